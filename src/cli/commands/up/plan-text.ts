import { effectWords, type KeyChange } from '../../../core/spec/changes.ts';
import type { UpPlan } from '../../../launcher/up/plan.ts';
import type { WorkerPlan } from '../../../launcher/up/plan-workers.ts';
import type { LocalPlan } from '../../../launcher/up/this-machine.ts';

/** The plan of `up` in words, for someone who decides whether to continue. */
export function planText(plan: UpPlan): string {
  const lines = [
    plan.known ? `Cluster '${plan.cluster}' exists on ${plan.head.host}.` : `New cluster '${plan.cluster}'.`,
  ];
  lines.push(`  head     ${plan.head.host}: ${headWords(plan)}`);
  if (plan.head.rayUp)
    lines.push(
      `           'ray up' created this cluster (${plan.head.rayUp.status ?? 'state unknown'}${plan.head.rayUp.same ? ', from this file' : ''}); Ray restarts under Manta, which stops everything running on it`,
    );
  else if (plan.head.foreignRay && plan.head.action !== 'nothing')
    lines.push(
      "           a Ray that Manta did not start is running there; the file's start commands decide what happens to it",
    );
  const [first, ...more] = workerLines(plan.workers);
  lines.push(`  workers  ${first}`, ...more.map((line) => `           ${line}`));
  for (const change of plan.changes) lines.push(`  changed  ${changeWords(change)}`);
  if (plan.upgrade) lines.push(`  upgrade  mantad ${plan.upgrade.from} to ${plan.upgrade.to}; Ray keeps running`);
  const { total, names } = plan.runningJobs;
  if (total > 0)
    lines.push(
      `  jobs     ${total} running, which the restart of Ray stops: ${names.join(', ')}${total > names.length ? ', …' : ''}`,
    );
  if (plan.orphan !== undefined) {
    const { name, sameFile } = plan.orphan;
    lines.push(
      `  warning  ${sameFile ? 'this file' : 'another file with this head'} started the cluster '${name}', which keeps running: shut it down with 'manta down -n ${name}'`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** The plan for a cluster of this machine in words. */
export function localPlanText({ name, action, upgrade }: LocalPlan): string {
  const words = {
    make: `New cluster '${name}' on this machine.`,
    start: `Cluster '${name}' exists on this machine but is not running: start it, with its jobs.`,
    apply: `Cluster '${name}' is running on this machine: apply the new settings; its jobs keep running.`,
    nothing: `Cluster '${name}' is running on this machine and up to date.`,
  }[action];
  const upgraded =
    upgrade === undefined ? '' : `  upgrade  mantad ${upgrade.from} to ${upgrade.to}; jobs keep running\n`;
  return `${words}\n${upgraded}`;
}

/** True when there is nothing to confirm. What mantad does anyway, such as replacing a lost worker, does not count. */
export const isNothing = ({ known, head, changes, workers, upgrade }: UpPlan): boolean =>
  known &&
  head.action === 'nothing' &&
  changes.length === 0 &&
  [workers.updated, workers.rolled, workers.rejoin, workers.leave].every(({ length }) => length === 0) &&
  workers.tooMany === 0 &&
  upgrade === undefined;

function headWords({ head, heldBy }: UpPlan): string {
  if (heldBy !== undefined)
    return `in use by the cluster '${heldBy.cluster}' of ${heldBy.owner}; this cluster cannot start until that one is down`;
  switch (head.action) {
    case 'make':
      return 'set it up and start Ray';
    case 'restart':
      return `restart Ray (${head.parts.join(', ') || 'it is not running'})`;
    case 'update':
      return `repeat ${head.parts.join(', ')}; Ray keeps running`;
    case 'nothing':
      return 'nothing to do';
  }
}

function workerLines(workers: WorkerPlan): readonly string[] {
  const { stay, updated, rolled, rejoin, leave, ending, tooMany, made, free } = workers;
  const of = (names: readonly string[], what: string): string[] =>
    names.length === 0 ? [] : [`${namesOf(names)}: ${what}`];
  const lines = [
    ...of(stay, 'unchanged'),
    ...of(updated, 'sync files and run setup commands again; Ray keeps running'),
    ...of(rolled, 'drain and set up again, one after another'),
    ...of(rejoin, "rejoin, because Ray's head restarts"),
    ...of(leave, 'drain and terminate, because they are no longer in the file'),
    ...of(ending, 'already terminating'),
  ];
  if (tooMany > 0) lines.push(`${tooMany} of them: drain and terminate, because the limits are lower; idle ones first`);
  if (made > 0) lines.push(`${madeWhere(made, free)}: set up and join`);
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
  const change = from === to ? 'changed (value hidden)' : whereTheyDiffer(from, to).join(' -> ');
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
