import type { Plain } from '../cluster.ts';
import { mapOf } from '../plain.ts';
import type { Path } from '../problem.ts';

/** A command that starts Ray in a way that no current Ray accepts. */
export interface OutdatedStart {
  readonly at: Path;
  readonly command: string;
  readonly flag: string;
  /** What the option is called now. */
  readonly now: string;
}

/** An option of `ray start` that was renamed in Ray 1.0 and removed in 2.0. */
export function goneOption(command: string): Pick<OutdatedStart, 'flag' | 'now'> | undefined {
  const [flag, name] = /--redis-(port|address)\b/.exec(command) ?? [];
  if (flag === undefined || !/\bray\s+start\b/.test(command)) return undefined;
  return { flag, now: `--${name}` };
}

/** The first of the file's commands that cannot start Ray; undefined where there is none. `file`: as it is written. */
export function outdatedStart(file: Plain): OutdatedStart | undefined {
  const { head_start_ray_commands: head, worker_start_ray_commands: worker } = mapOf(file);
  const lists = [
    ['head_start_ray_commands', head],
    ['worker_start_ray_commands', worker],
  ] as const;
  for (const [key, list] of lists)
    for (const [index, command] of (Array.isArray(list) ? (list as readonly Plain[]) : []).entries()) {
      const gone = typeof command === 'string' ? goneOption(command) : undefined;
      if (gone !== undefined) return { at: [key, index], command: String(command), ...gone };
    }
  return undefined;
}
