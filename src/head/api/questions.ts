import { launchWords } from '../../core/plan/words.ts';
import type { ClusterStatus } from '../../core/status/status.ts';
import { answerOf } from '../../jobs/manta-api/rows.ts';
import { isOwner } from '../../jobs/permissions.ts';
import type { User } from '../../jobs/users.ts';
import { headErrors } from '../errors.ts';
import type { Head } from '../head.ts';
import { statusOf } from '../observer.ts';
import { whyDemand, whyInstance, whyJob } from '../why.ts';
import type { WhyAnswer } from './types.ts';

/** A failure older than this is no longer news. */
const failuresShownFor = 1_800_000;

/** The cluster's status with what went wrong lately. */
export function recentFailures(head: Head): ClusterStatus {
  const now = head.clock.now();
  const facts = head.journal.recent(['refused', 'instance'], 500).filter((fact) => now - fact.at < failuresShownFor);
  const failedLaunches = facts.flatMap((fact) =>
    fact.kind === 'refused'
      ? [{ type: fact.refusal.type, at: fact.at, reason: fact.detail ?? fact.refusal.reason }]
      : [],
  );
  const failedNodes = facts.flatMap((fact) =>
    fact.kind === 'instance' &&
    fact.moves.some((move) => move.from === 'running' && (move.to === 'stopped' || move.to === 'terminated'))
      ? [{ type: fact.record.type, instance: fact.record.id }]
      : [],
  );
  const passMs = head.passTime();
  return statusOf(head.sight(), { failedLaunches, failedNodes }, passMs === undefined ? undefined : { passMs });
}

/** Why each instance was asked for, from the journal. */
export function launchedBecause(head: Head): (instance: string) => string | undefined {
  const reasons = new Map<string, string>();
  for (const fact of head.journal.recent(['launch'], 1_000)) {
    if (fact.kind !== 'launch') continue;
    const words = launchWords(fact.action.because);
    for (const record of fact.records) reasons.set(record.id, words);
  }
  return (instance) => reasons.get(instance);
}

export function whyAnswer(head: Head, kind: string, id: string, reader: User): WhyAnswer {
  const { plan } = head.sight();
  const now = head.clock.now();
  const waiting = plan?.waiting ?? [];
  const infeasible = plan?.infeasible ?? [];
  if (kind === 'demand') return whyDemand(waiting, infeasible, now);
  if (kind === 'job') {
    const job = head.queue.get(id);
    if (job === undefined) throw headErrors.NoSuchThing({ kind, id });
    const facts = head.store.facts({ job: id, limit: 500 });
    const scaling = head.journal.recent(['launch', 'refused'], 200);
    return whyJob({
      job: answerOf(job, isOwner(job, reader)),
      facts,
      block: head.queue.blockOf(id),
      waiting,
      infeasible,
      scaling,
      now,
    });
  }
  if (kind === 'node') {
    const instance =
      head.sight().view?.instances.find((each) => each.id === id || each.node?.id.startsWith(id))?.id ?? id;
    const answer = whyInstance(instance, head.journal.about(instance, 500), now);
    if (answer !== undefined) return answer;
  }
  throw headErrors.NoSuchThing({ kind, id });
}
