import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that cannot be taken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In ticks since this machine started. */
  readonly start: string;
}

/** A process as this machine sees it; `pid` can be signalled from here. */
export interface LabProcess {
  readonly pid: number;
  /** Its number on its host. */
  readonly hostPid: number;
  readonly command: readonly string[];
}

export function identify(pid: number): ProcessIdentity | undefined {
  const fields = statOf(pid);
  return fields === undefined ? undefined : { pid, start: fields[19]! };
}

/** A zombie is no live process: it holds nothing but its number. */
export function isAlive(identity: ProcessIdentity): boolean {
  const fields = statOf(identity.pid);
  return fields !== undefined && fields[19] === identity.start && fields[0] !== 'Z' && fields[0] !== 'X';
}

/** Ends a process, if it is still that one, and waits until it is gone. */
export async function endProcess(identity: ProcessIdentity): Promise<void> {
  while (isAlive(identity)) {
    try {
      process.kill(identity.pid, 'SIGKILL');
    } catch {
      return;
    }
    await sleep(5);
  }
}

export function childrenOf(pid: number): readonly number[] {
  const text = readText(`/proc/${pid}/task/${pid}/children`) ?? '';
  return text.split(' ').filter(Boolean).map(Number);
}

/**
 * Every process of a cgroup and of those below it that lives in the pid namespace of `pid1` or in one inside it. `path`
 * as it stands in `/proc/PID/cgroup`.
 */
export function processesOf(path: string, pid1: number): readonly LabProcess[] {
  const depth = pidsOf(pid1).length;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const groups = readText(`/proc/${pid}/cgroup`)?.split('\n') ?? [];
      return groups.some((line) => line.endsWith(path) || line.includes(`${path}/`));
    })
    .flatMap((pid) => {
      const pids = pidsOf(pid);
      const command = (readText(`/proc/${pid}/cmdline`) ?? '').split('\0').slice(0, -1);
      return pids.length < depth || command.length === 0 ? [] : [{ pid, hostPid: pids[depth - 1]!, command }];
    });
}

/** A process's number in each pid namespace that sees it, this machine's first. */
const pidsOf = (pid: number): readonly number[] =>
  /^NSpid:(.*)$/m
    .exec(readText(`/proc/${pid}/status`) ?? '')?.[1]
    ?.trim()
    .split(/\s+/)
    .map(Number) ?? [];

/** The fields after the name, which may itself hold blanks and brackets: state first. */
function statOf(pid: number): readonly string[] | undefined {
  const text = readText(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
