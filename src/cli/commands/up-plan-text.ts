import { effectWords, type KeyChange } from '../../core/spec/changes.ts';
import type { LocalPlan } from '../../launcher/up.ts';
import type { UpPlan } from '../../launcher/up-plan.ts';
import type { WorkerPlan } from '../../launcher/up-plan-workers.ts';

/** The plan of `up` in words, for somebody who decides whether to go on. */
export function planText(plan: UpPlan): string {
  const lines = [
    plan.known ? `Cluster '${plan.cluster}' is known on ${plan.head.host}.` : `New cluster '${plan.cluster}'.`,
  ];
  lines.push(`  head     ${plan.head.host}: ${headWords(plan)}`);
  if (plan.head.rayUp)
    lines.push(
      `           'ray up' made this cluster (${plan.head.rayUp.status ?? 'state unknown'}${plan.head.rayUp.same ? ', from this very file' : ''}); Ray restarts under Manta, and what runs on it ends`,
    );
  else if (plan.head.foreignRay && plan.head.action !== 'nothing')
    lines.push(
      "           a Ray that Manta did not start runs there; the file's start commands decide what becomes of it",
    );
  const [first, ...more] = workerLines(plan.workers);
  lines.push(`  workers  ${first}`, ...more.map((line) => `           ${line}`));
  for (const change of plan.changes) lines.push(`  changed  ${changeWords(change)}`);
  if (plan.upgrade) lines.push(`  upgrade  mantad ${plan.upgrade.from} to ${plan.upgrade.to}, without touching Ray`);
  const { total, names } = plan.runningJobs;
  if (total > 0)
    lines.push(
      `  jobs     ${total} running, which end with the restart of Ray: ${names.join(', ')}${total > names.length ? ', …' : ''}`,
    );
  if (plan.orphan !== undefined) {
    const { name, sameFile } = plan.orphan;
    lines.push(
      `  warning  ${sameFile ? 'this file' : 'another file with this head'} started the cluster '${name}', which goes on running: 'manta down -n ${name}' ends it`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** The plan for a cluster of this machine in words. */
export function localPlanText({ name, action, upgrade }: LocalPlan): string {
  const words = {
    make: `New cluster '${name}' on this machine.`,
    start: `Cluster '${name}' is known on this machine and does not run: it is started, with its jobs.`,
    apply: `Cluster '${name}' runs on this machine: the new settings are applied, and its jobs go on.`,
    nothing: `Cluster '${name}' runs on this machine as asked.`,
  }[action];
  const upgraded = upgrade === undefined ? '' : `  upgrade  mantad ${upgrade.from} to ${upgrade.to}; jobs go on\n`;
  return `${words}\n${upgraded}`;
}

/** True when there is nothing to agree to: what mantad does anyway, such as making a lost worker again, is none of it. */
export const isNothing = ({ known, head, changes, workers, upgrade }: UpPlan): boolean =>
  known &&
  head.action === 'nothing' &&
  changes.length === 0 &&
  [workers.updated, workers.rolled, workers.rejoin, workers.leave].every(({ length }) => length === 0) &&
  workers.tooMany === 0 &&
  upgrade === undefined;

function headWords({ head, heldBy }: UpPlan): string {
  if (heldBy !== undefined)
    return `held by the cluster '${heldBy.cluster}' of ${heldBy.owner}, so that this one is refused until that one is down`;
  switch (head.action) {
    case 'make':
      return 'is set up, and Ray is started';
    case 'restart':
      return `Ray is started anew (${head.parts.join(', ') || 'it does not run'})`;
    case 'update':
      return `${head.parts.join(', ')} done again; Ray goes on`;
    case 'nothing':
      return 'nothing to do';
  }
}

function workerLines(workers: WorkerPlan): readonly string[] {
  const { stay, updated, rolled, rejoin, leave, ending, tooMany, made, free } = workers;
  const of = (names: readonly string[], what: string): string[] =>
    names.length === 0 ? [] : [`${namesOf(names)}: ${what}`];
  const lines = [
    ...of(stay, 'as before'),
    ...of(updated, 'files and setup commands again; Ray goes on'),
    ...of(rolled, 'set up again in turn, each emptied first'),
    ...of(rejoin, "to join again, since Ray's head starts anew"),
    ...of(leave, 'emptied and ended, being no longer in the file'),
    ...of(ending, 'ending already'),
  ];
  if (tooMany > 0) lines.push(`${tooMany} of them: emptied and ended, since the limits are lower; idle ones go first`);
  if (made > 0) lines.push(`${madeWhere(made, free)}: set up, to join`);
  return lines.length === 0 ? ['none'] : lines;
}

function madeWhere(made: number, free: readonly string[]): string {
  if (free.length === made) return namesOf(free);
  return free.length > made ? `${made} of ${namesOf(free)}` : `${made} more`;
}

/** More of them say less. */
const mostNames = 10;

const namesOf = (names: readonly string[]): string =>
  names.length <= mostNames
    ? names.join(', ')
    : `${names.slice(0, mostNames).join(', ')} and ${names.length - mostNames} more`;

function changeWords({ key, before, after, effect }: KeyChange): string {
  const [from, to] = [textOf(before), textOf(after)];
  const change = from === to ? 'another value, which is not shown' : whereTheyDiffer(from, to).join(' -> ');
  return `${key}: ${change}\n           ${effectWords[effect]}`;
}

function textOf(value: unknown): string {
  if (value === undefined) return '(none)';
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? Number(each) : each));
}

const longestShown = 60;
const around = 12;

/** Of long texts the part that is another, with a little of what stands before and behind it. */
function whereTheyDiffer(from: string, to: string): readonly [string, string] {
  if (from.length <= longestShown && to.length <= longestShown) return [from, to];
  const shorter = Math.min(from.length, to.length);
  let same = 0;
  while (same < shorter && from[same] === to[same]) same++;
  let behind = 0;
  while (behind < shorter - same && from.at(-1 - behind) === to.at(-1 - behind)) behind++;
  const start = same <= around ? 0 : same - around;
  const part = (text: string): string => {
    const end = behind <= around ? text.length : text.length - behind + around;
    const shown = text.slice(start, Math.min(end, start + around + longestShown));
    return `${start > 0 ? '…' : ''}${shown}${start + shown.length < text.length ? '…' : ''}`;
  };
  return [part(from), part(to)];
}
