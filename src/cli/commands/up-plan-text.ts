import { effectWords, type KeyChange } from '../../core/spec/changes.ts';
import type { UpPlan } from '../../launcher/up-plan.ts';

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
  lines.push(`  workers  ${workerWords(plan)}`);
  if (plan.workers.joining.length > 0 && plan.known)
    lines.push(`           joining: ${plan.workers.joining.join(', ')}`);
  if (plan.workers.leaving.length > 0) lines.push(`           leaving: ${plan.workers.leaving.join(', ')}`);
  for (const change of plan.changes) lines.push(`  changed  ${changeWords(change)}`);
  if (plan.upgrade) lines.push(`  upgrade  mantad ${plan.upgrade.from} to ${plan.upgrade.to}, without touching Ray`);
  if (plan.runningJobs > 0) lines.push(`  jobs     ${plan.runningJobs} running, which end with the restart of Ray`);
  if (plan.orphan !== undefined)
    lines.push(
      `  warning  this file started the cluster '${plan.orphan}', which goes on running: 'manta down -n ${plan.orphan}' ends it`,
    );
  return `${lines.join('\n')}\n`;
}

/** True when there is nothing to agree to. */
export const isNothing = (plan: UpPlan): boolean =>
  plan.known &&
  plan.head.action === 'nothing' &&
  plan.changes.length === 0 &&
  plan.workers.joining.length === 0 &&
  plan.workers.leaving.length === 0 &&
  plan.upgrade === undefined;

function headWords({ head }: UpPlan): string {
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

function workerWords({ workers, head }: UpPlan): string {
  const count =
    workers.hosts.length === 0 ? `${workers.wanted} workers` : `${workers.wanted} of ${workers.hosts.length} hosts`;
  if (head.action === 'make') return `${count} join`;
  if (head.action === 'restart') return `${count} join again, since Ray's head starts anew`;
  return workers.rolled ? `${count}; each is emptied, set up again and joins again` : `${count} stay as they are`;
}

function changeWords({ key, before, after, effect }: KeyChange): string {
  const short = (value: unknown): string => {
    if (value === undefined) return '(none)';
    const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? Number(each) : each));
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
  };
  return `${key}: ${short(before)} -> ${short(after)}\n           ${effectWords[effect]}`;
}
