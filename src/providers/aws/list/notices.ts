import * as v from 'valibot';
import { readShell, shellProgram } from '../../../base/shell/shell-file.ts';
import type { Duration, Instant } from '../../../base/time/clock.ts';
import type { InstanceNotices } from '../../provider.ts';

const program = readShell(new URL('./instance-notices.sh', import.meta.url));

/**
 * A recommendation to leave says that the end is likelier than usual, not when it is: work on the instance has so long to end.
 * An interruption that follows has its own two minutes.
 */
const rebalancesWithin: Duration = 30 * 60_000;

const instant = v.pipe(
  v.string(),
  v.transform((text) => Date.parse(text)),
  v.number(),
  v.finite(),
);
const actionSchema = v.object({ time: instant });
const rebalanceSchema = v.object({ noticeTime: instant });

/** What EC2 tells instances and nobody else. A recommendation to leave is told in no list. */
export class SpotNotices implements InstanceNotices {
  readonly program: string;
  readonly #ends = new Map<string, Instant>();

  constructor(imds = 'http://169.254.169.254/latest') {
    this.program = shellProgram(program, { imds });
  }

  heard(id: string, said: string): void {
    const end = endOf(said);
    const known = this.#ends.get(id);
    if (end !== undefined && (known === undefined || end < known)) this.#ends.set(id, end);
  }

  /** When an instance will be taken back; `listed`: as lists tell it. */
  endOf(id: string, listed: Instant | undefined): Instant | undefined {
    const ends = [listed, this.#ends.get(id)].filter((end) => end !== undefined);
    return ends.length === 0 ? undefined : Math.min(...ends);
  }

  /** Others are gone, and their ids do not come again. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#ends.keys()) if (!ids.has(id)) this.#ends.delete(id);
  }
}

function endOf(said: string): Instant | undefined {
  const [what, ...words] = said.split(' ');
  const json = parsed(words.join(' '));
  if (what === 'spot/instance-action') {
    const read = v.safeParse(actionSchema, json);
    return read.success ? read.output.time : undefined;
  }
  if (what !== 'events/recommendations/rebalance') return undefined;
  const read = v.safeParse(rebalanceSchema, json);
  return read.success ? read.output.noticeTime + rebalancesWithin : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
