import type { ClusterAnswer, WhyAnswer } from '../../api/types.ts';
import type { ScalingFact } from '../../autoscaler/journal.ts';
import { redactTexts } from '../../base/redact.ts';
import type { Instant } from '../../base/time/clock.ts';
import { infeasibility } from '../../core/jobs/admit.ts';
import { chooseNext, defaultLimits } from '../../core/jobs/choose.ts';
import { usageOf } from '../../core/jobs/fair-share.ts';
import { isOver, type Job } from '../../core/jobs/job.ts';
import { setUpFailure } from '../../core/lifecycle.ts';
import { launchWords } from '../../core/plan/words.ts';
import { silenceWords } from '../../core/status/silence.ts';
import type { ClusterStatus } from '../../core/status/status.ts';
import { answerOf } from '../../jobs/manta-api/rows.ts';
import { isOwner } from '../../jobs/users/permissions.ts';
import type { User } from '../../jobs/users/users.ts';
import { headErrors } from '../errors.ts';
import { headEvents } from '../events.ts';
import type { Head } from '../head.ts';
import { goneSlices } from '../report/gone-slices.ts';
import { sideNames, statusOf } from '../report/observer.ts';
import { whyByHand, whyDemand, whyInstance } from '../report/why.ts';
import { whyJob } from '../report/why-job.ts';

/** A failure older than this is no longer news. */
const failuresShownFor = 1_800_000;

/** The cluster's status with what went wrong lately. */
export function recentFailures(head: Head): ClusterStatus {
  const now = head.clock.now();
  const facts = head.journal.recent(['refused', 'instance'], 500).filter((fact) => now - fact.at < failuresShownFor);
  const failedLaunches = facts.flatMap(failedLaunchesOf);
  const failedNodes = facts.flatMap((fact) =>
    fact.kind === 'instance' &&
    fact.moves.some((move) => move.from === 'running' && (move.to === 'stopped' || move.to === 'terminated'))
      ? [{ type: fact.record.type, instance: fact.record.id }]
      : [],
  );
  const passMs = head.passTime();
  return statusOf(head.sight(), { failedLaunches, failedNodes }, passMs === undefined ? undefined : { passMs });
}

export const engineOf = (head: Head): ClusterAnswer['engine'] => (head.ray === undefined ? 'embedded' : 'ray');

/** Launches that were refused, and machines that were given and could not be set up. */
function failedLaunchesOf(fact: ScalingFact): ClusterStatus['failedLaunches'] {
  const words = (reason: string, detail: string | undefined): string => (detail ? `${reason}: ${detail}` : reason);
  if (fact.kind === 'refused') {
    const { type, reason, detail } = fact.refusal;
    return reason === 'setup-failed' ? [] : [{ type, at: fact.at, reason: words(reason, detail) }];
  }
  const failed = fact.kind === 'instance' ? fact.moves.find(({ to }) => to === 'setup-failed') : undefined;
  if (failed === undefined || fact.kind !== 'instance') return [];
  const [said] = setUpFailure(failed)?.split('\n') ?? [];
  return [{ type: fact.record.type, at: fact.at, reason: words('setup-failed', said) }];
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
  if (kind === 'demand') {
    const gone = goneSlices(head.journal.recent(['instance'], scalingShown));
    return whyDemand(waiting, infeasible, now, engineSilence(head, now), gone);
  }
  if (kind === 'job') {
    const job = head.queue.get(id);
    if (job === undefined) throw headErrors.NoSuchThing({ kind, id });
    const mine = isOwner(job, reader);
    const answer = aboutJob(head, answerOf(job, mine), now);
    return mine ? answer : redactTexts(answer);
  }
  if (kind === 'node') {
    const found = head
      .sight()
      .view?.instances.find((each) => each.id === id || each.providerId === id || each.node?.id.startsWith(id));
    if (found?.byHand) return whyByHand(found.id);
    const instance = found?.id ?? lastInstanceOf(head, id) ?? id;
    const answer = whyInstance(instance, head.journal.about(instance, 500), now);
    if (answer !== undefined) return withSuspicions(answer, instance, head);
  }
  throw headErrors.NoSuchThing({ kind, id });
}

const suspicions: ReadonlySet<string> = new Set([headEvents.nodeSuspect.code, headEvents.nodeBack.code]);

/** What was noticed of a node before anybody confirmed it stands in the events alone. */
function withSuspicions(answer: WhyAnswer, id: string, head: Head): WhyAnswer {
  const machine = head.sight().view?.instances.find((each) => each.id === id)?.providerId;
  const noticed = head.events
    .last(2_000)
    .filter(({ code, instance }) => suspicions.has(code) && instance !== undefined && [id, machine].includes(instance))
    .map(({ at, text }) => ({ at, text }));
  return { ...answer, chain: [...answer.chain, ...noticed].sort((a, b) => a.at - b.at) };
}

/** Why nothing is known of what the engine does, in words. */
function engineSilence(head: Head, now: Instant): string | undefined {
  const silence = head.sight().view?.silent?.engine;
  return silence && silenceWords(sideNames(engineOf(head)).engine, silence, now);
}

/** Enough for any wait that people look at. */
const scalingShown = 1_000;

function aboutJob(head: Head, job: Job, now: Instant): WhyAnswer {
  const { plan } = head.sight();
  const hasEnded = isOver(job.state) || job.state === 'running' || job.state === 'stopping';
  const until = hasEnded ? (job.attempts.at(-1)?.startedAt ?? job.endedAt ?? now) : now;
  return whyJob({
    job,
    facts: head.store.facts({ job: job.id, limit: 500 }),
    block: head.queue.blockOf(job.id),
    engineSilence: engineSilence(head, now),
    ahead: job.state === 'queued' ? aheadOf(head, job, now) : [],
    waiting: plan?.waiting ?? [],
    infeasible: plan?.infeasible ?? [],
    scaling: head.journal.recent(['launch', 'refused'], scalingShown, { since: job.submittedAt, until }),
    instanceOf: (node) => instanceOf(head, node),
    couldHold: (type) => couldHold(head, job, type),
    stateOf: (other) => head.queue.get(other)?.state,
    now,
  });
}

/** The instance that a machine or a node was last, as the journal has it. */
function lastInstanceOf(head: Head, id: string): string | undefined {
  const fact = head.journal.about(id, 500).findLast((each) => 'record' in each);
  return fact !== undefined && 'record' in fact ? fact.record.id : undefined;
}

function instanceOf(head: Head, node: string): { readonly id: string; readonly type: string } | undefined {
  const there = head.sight().view?.instances.find((each) => each.node?.id === node);
  if (there !== undefined) return there;
  const fact = head.journal.about(node, 1)[0];
  return fact !== undefined && 'record' in fact ? fact.record : undefined;
}

function couldHold(head: Head, job: Job, name: string): boolean {
  const type = head.spec().nodeTypes.find((each) => each.name === name);
  if (type === undefined) return false;
  const { gang: _, ...alone } = job;
  const parts = job.gang?.bundles ?? [job.resources];
  return parts.some(
    (resources) =>
      infeasibility({ ...alone, resources }, [{ ...type, atMost: Number.POSITIVE_INFINITY }]) === undefined,
  );
}

/** The line as it would start if there were room for all: limits and room hold jobs up, but do not change their order. */
function aheadOf(head: Head, job: Job, now: Instant): readonly Job[] {
  const live = [...head.store.live.values()];
  const { start } = chooseNext(
    live.filter(({ state }) => state === 'queued'),
    live.filter(({ state }) => state === 'starting' || state === 'running' || state === 'stopping'),
    usageOf(head.store.jobs.values(), now),
    {
      ...defaultLimits,
      headJobs: Number.POSITIVE_INFINITY,
      weights: head.users.weights(),
      admins: head.users.admins(),
    },
    now,
    () => true,
  );
  const place = start.findIndex(({ id }) => id === job.id);
  return start.slice(0, Math.max(0, place));
}
