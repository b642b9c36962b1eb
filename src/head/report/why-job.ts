import { constants } from 'node:os';
import type { WhyAnswer } from '../../api/types.ts';
import type { ScalingFact } from '../../autoscaler/journal.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { Request } from '../../core/demand.ts';
import type { Block } from '../../core/jobs/choose.ts';
import { type EndCause, isOver, type Job, type JobState } from '../../core/jobs/job.ts';
import { demandOf } from '../../core/jobs/queue-demand.ts';
import type { InfeasibleDemand, LaunchReason, Waiting } from '../../core/plan/plan.ts';
import { durationWords, infeasibleWords, launchWords, resourceWords, waitingWords } from '../../core/plan/words.ts';
import type { LaunchRefusal } from '../../core/view.ts';
import type { JobFact } from '../../jobs/queue/store.ts';
import { advice } from './why.ts';

type Step = WhyAnswer['chain'][number];

export interface JobQuestion {
  readonly job: Job;
  readonly facts: readonly JobFact[];
  readonly block: Block | undefined;
  /** That the engine does not answer, in words: nobody knows then where there is room. */
  readonly engineSilence?: string | undefined;
  /** Those that go before it, of a job that is queued. */
  readonly ahead: readonly Job[];
  readonly waiting: readonly Waiting[];
  readonly infeasible: readonly InfeasibleDemand[];
  /** Launches and refusals from its submission to its start. */
  readonly scaling: readonly ScalingFact[];
  /** The instance that an engine's node is, or was, on. */
  readonly instanceOf: (node: string) => { readonly id: string; readonly type: string } | undefined;
  /** Whether an empty node of a type could hold the job, or a part of its gang. */
  readonly couldHold: (type: string) => boolean;
  readonly stateOf: (job: string) => JobState | undefined;
  readonly now: Instant;
}

/** Why a job is where it is: what happened to it, what was launched for it, and what it waits for. */
export function whyJob(question: JobQuestion): WhyAnswer {
  const { job, facts, now } = question;
  const waits = job.state === 'queued' || job.state === 'starting';
  const waiting = waits ? question.waiting.filter((each) => concerns(each.demand, job)) : [];
  const infeasible = waits ? question.infeasible.filter((each) => concerns(each, job)) : [];
  const past = [
    ...facts.map(({ at, kind, data }) => ({ at, text: factText(question, kind, data), data })),
    ...launchesFor(question),
    ...refusalsFor(question),
  ].sort((a, b) => a.at - b.at);
  const present: Step[] = [
    ...holdTexts(question).map((text) => ({ at: now, text })),
    ...(job.state === 'queued' ? [{ at: now, text: queuedText(question), data: { block: heldBy(question) } }] : []),
    ...waiting.map((each) => ({ at: now, text: waitingWords(each, now), data: each })),
    ...infeasible.map((each) => ({ at: now, text: infeasibleWords(each, now), data: each })),
  ];
  return {
    subject: `job ${job.id}`,
    state: `${job.state}: ${job.message}`,
    chain: [...past, ...present],
    next: [...advice(waiting, infeasible), ...ownAdvice(question, infeasible.length > 0)],
  };
}

function ownAdvice({ job, block }: JobQuestion, impossible: boolean): string[] {
  if (impossible) return [`or cancel it: manta job stop ${job.id}`];
  if (job.state === 'failed')
    return [`read its output: manta job logs ${job.id}`, `run it again: manta job retry ${job.id}`];
  if (job.state === 'queued' && (block === 'user-limit' || block === 'cluster-limit' || block === 'head-limit'))
    return ['wait for other jobs to finish, or stop some'];
  return [];
}

/** What happened to the job, as a sentence whose subject is the job. */
function factText(question: JobQuestion, kind: string, data: Readonly<Record<string, unknown>>): string {
  const { job } = question;
  const attempt = job.attempts.find(({ id }) => id === data['attempt']);
  const number =
    attempt?.number ??
    String(data['attempt'] ?? '')
      .split('.')
      .at(-1);
  const ended = endText(data, attempt?.exitCode);
  switch (kind) {
    case 'submitted':
      return `submitted by ${String(data['user'])}, requesting ${asksFor(job)}`;
    case 'starting':
      return `left the queue: attempt ${number} was handed to the engine`;
    case 'running':
      return `started attempt ${number}${place(question, data['node'])}`;
    case 'held':
      return data['event'] === 'retry' ? 'retried by hand' : `attempt ${number} ${ended}; another follows`;
    case 'queued':
      return 'no longer held: joined the queue';
    case 'stopping':
      return 'stopping: its processes are being killed';
    case 'stopped':
      return data['attempt'] === undefined ? 'stopped before it started' : `attempt ${number} ${ended}`;
    case 'succeeded':
    case 'failed':
      return data['cause'] === undefined || data['event'] === 'cannot-start'
        ? `${kind}: ${String(data['message'] ?? '')}`
        : `attempt ${number} ${ended}`;
    case 'fired':
      return `ran on schedule: submitted ${String(data['copy'])}`;
    case 'firing-skipped':
      return `skipped a run: ${String(data['previous'])} had not finished yet`;
    default:
      return kind.replaceAll('-', ' ');
  }
}

const causes: Readonly<Record<EndCause, string>> = {
  succeeded: 'succeeded',
  failed: 'ended',
  stopped: 'was stopped',
  'node-lost': 'ended because its node was lost',
  preempted: 'ended because the provider reclaimed its machine',
  'setup-failed': 'failed during setup',
  'memory-limit': 'was killed because it used more memory than it requested',
  'time-limit': 'was stopped because it exceeded its time limit',
  'start-failed': 'could not be started',
};

function endText(data: Readonly<Record<string, unknown>>, exitCode: number | undefined): string {
  const cause = data['cause'] as EndCause | undefined;
  const code = exitCode === undefined ? '' : ` with exit code ${exitCode}${signalOf(exitCode)}`;
  return `${causes[cause ?? 'stopped'] ?? 'ended'}${cause === 'succeeded' ? '' : code}`;
}

/** A shell exits with 128 + n when a signal killed its command. */
function signalOf(exitCode: number): string {
  const name = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0];
  return name === undefined ? '' : ` (${name})`;
}

function place({ instanceOf }: JobQuestion, node: unknown): string {
  if (typeof node !== 'string') return '';
  const instance = instanceOf(node);
  return instance === undefined ? ` on node ${node.slice(0, 8)}` : ` on ${instance.id} (${instance.type})`;
}

function asksFor({ gang, resources }: Job): string {
  if (gang === undefined) return resourceWords(resources);
  const [first = {}] = gang.bundles;
  const alike = gang.bundles.every((bundle) => resourceWords(bundle) === resourceWords(first));
  const bundles = alike
    ? `${gang.bundles.length} × ${resourceWords(first)}`
    : gang.bundles.map(resourceWords).join(' + ');
  return `${bundles} at once (${gang.strategy})`;
}

function holdTexts({ job, stateOf, now }: JobQuestion): string[] {
  if (job.state !== 'held') return [];
  const open = job.dependsOn.filter((id) => stateOf(id) !== 'succeeded');
  const { startAfter, notBefore } = job;
  return [
    ...(open.length > 0
      ? [`waiting for ${open.map((id) => `job ${id} (${stateOf(id) ?? 'deleted'})`).join(', ')}`]
      : []),
    ...(startAfter !== undefined && startAfter > now ? [`starts no earlier than ${timeWords(startAfter, now)}`] : []),
    ...(notBefore === undefined
      ? []
      : job.cron === undefined
        ? [`attempt ${job.attempts.length + 1} follows ${pauseWords(notBefore, now)}`]
        : [`its schedule '${job.cron}' runs next at ${timeWords(notBefore, now)}; runs so far: ${job.firings ?? 0}`]),
  ];
}

const pauseWords = (at: Instant, now: Instant): string => (at > now ? `in ${durationWords(at - now)}` : 'now');

/** `14:03:22 (in 12 s)`, with the date unless it is today; the time zone is that of the head. */
function timeWords(at: Instant, now: Instant): string {
  const local = (instant: Instant): string =>
    new Date(instant - new Date(instant).getTimezoneOffset() * 60_000).toISOString();
  const [day, time] = [local(at).slice(0, 10), local(at).slice(11, 19)];
  const clock = day === local(now).slice(0, 10) ? time : `${day} ${time}`;
  return at > now ? `${clock} (in ${durationWords(at - now)})` : clock;
}

function queuedText(question: JobQuestion): string {
  const { job, ahead, now } = question;
  const waited = `waiting for ${durationWords(now - job.submittedAt)}`;
  const block = heldBy(question);
  return `${waited}: ${block ? blockWords(block, question) : 'it starts as soon as its environment is ready'}; ${lineWords(ahead)}`;
}

/** What holds a queued job up. The queue finds no room where it cannot look for any, and does not look before it has heard all. */
const heldBy = ({ block, engineSilence }: JobQuestion): Block | 'engine-silent' | undefined =>
  engineSilence !== undefined && (block === undefined || block === 'no-room' || block === 'reserved')
    ? 'engine-silent'
    : block;

function blockWords(block: Block | 'engine-silent', { job: { user }, engineSilence }: JobQuestion): string {
  switch (block) {
    case 'engine-silent':
      return `free capacity is unknown (${engineSilence})`;
    case 'cluster-limit':
      return 'the cluster already runs as many jobs as its limit allows';
    case 'user-limit':
      return `${user} already runs as many jobs as the limit per user allows`;
    case 'head-limit':
      return 'the head already runs as many jobs without resources as its limit allows';
    case 'no-room':
      return 'no node has enough free resources now';
    case 'reserved':
      return 'an older job is waiting for the same resources and goes first';
  }
}

/** How many lots of jobs ahead are told apart. */
const lotsTold = 5;

function lineWords(ahead: readonly Job[]): string {
  if (ahead.length === 0) return 'it is first in the queue';
  const lots = new Map<string, number>();
  for (const { user, priority } of ahead) {
    const lot = `of ${user} with priority ${priority}`;
    lots.set(lot, (lots.get(lot) ?? 0) + 1);
  }
  const told = [...lots].slice(0, lotsTold).map(([lot, count]) => `${count} ${lot}`);
  const more = lots.size > lotsTold ? [`and others`] : [];
  return `${ahead.length} ${ahead.length === 1 ? 'job is' : 'jobs are'} ahead of it: ${[...told, ...more].join(', ')}`;
}

type Served = Waiting['demand'] | InfeasibleDemand | LaunchReason['serves'];

/** Whether a demand is this job's, or counts it among others that ask for the same. */
function concerns(demand: Served, job: Job): boolean {
  if (demand.kind === 'tasks') {
    const own = demandOf([job]).tasks[0]?.request;
    return own !== undefined && requestKey(own) === requestKey(demand.request);
  }
  if (demand.kind !== 'gang') return false;
  const id = typeof demand.gang === 'string' ? demand.gang : demand.gang.id;
  return id === job.id || id.startsWith(`${job.id}.`);
}

const requestKey = ({ resources, selectors }: Request): string =>
  JSON.stringify([
    Object.entries(resources)
      .filter(([, amount]) => amount > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
    selectors,
  ]);

function launchesFor({ job, scaling, instanceOf }: JobQuestion): Step[] {
  const ranOn = new Set(job.attempts.flatMap(({ node }) => (node && instanceOf(node)?.id) ?? []));
  return scaling.flatMap((fact): Step[] => {
    if (fact.kind !== 'launch') return [];
    const { because, type } = fact.action;
    const home = fact.records.find(({ id }) => ranOn.has(id));
    if (!because.some(({ serves }) => concerns(serves, job)) && home === undefined) return [];
    const which = fact.records.length === 1 ? (fact.records[0]?.id ?? '') : `${fact.records.length} instances`;
    return [{ at: fact.at, text: `requested ${which} of type ${type}: ${launchWords(because)}`, data: fact.action }];
  });
}

/** Not all that keeps a type from being launched is the provider's word. */
function refusedWords(type: string, reason: LaunchRefusal['reason']): string {
  if (reason === 'setup-failed') return `setup failed on machines of ${type}`;
  if (reason === 'launch-timeout') return `machines of ${type} did not come up in time`;
  return `the provider refused ${type}: ${reason.replaceAll('-', ' ')}`;
}

/** One step for all refusals of a type for the same reason: a provider that has nothing says so often. */
function refusalsFor({ job, scaling, couldHold, now }: JobQuestion): Step[] {
  const runs = new Map<string, { first: Instant; last: ScalingFact & { kind: 'refused' }; times: number }>();
  for (const fact of scaling) {
    if (fact.kind !== 'refused' || !couldHold(fact.refusal.type)) continue;
    const key = `${fact.refusal.type} ${fact.refusal.reason}`;
    const run = runs.get(key);
    runs.set(key, { first: run?.first ?? fact.at, last: fact, times: (run?.times ?? 0) + 1 });
  }
  return [...runs.values()].map(({ first, last, times }) => {
    const { type, reason, until, detail } = last.refusal;
    const often = times > 1 ? `, ${times} times since ${timeWords(first, now)}` : '';
    const again = isOver(job.state) ? '' : `; retrying at ${timeWords(until, now)}`;
    return {
      at: last.at,
      text: `${refusedWords(type, reason)}${often}${again}${detail === undefined ? '' : `: ${detail}`}`,
      data: last,
    };
  });
}
