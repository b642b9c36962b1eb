import type { Fact } from '../autoscaler/journal.ts';
import type { Instant } from '../base/clock.ts';
import type { Block } from '../core/jobs/choose.ts';
import type { Job } from '../core/jobs/job.ts';
import type { Infeasible, Waiting } from '../core/plan/plan.ts';
import {
  demandWords,
  durationWords,
  endWords,
  infeasibleWords,
  launchWords,
  passedWords,
  resourceWords,
  waitingWords,
} from '../core/plan/words.ts';
import type { Fact as JobFact } from '../jobs/store.ts';
import type { WhyAnswer } from './api/types.ts';

type Step = WhyAnswer['chain'][number];

const blockWords: Readonly<Record<Block, string>> = {
  'cluster-limit': 'as many jobs run as the cluster allows at once',
  'user-limit': 'as many of your jobs run as you may have at once',
  'head-limit': 'as many jobs without resources run as the head takes at once',
  'no-room': 'no node has room for it now',
  reserved: 'an older job waits for the same room and is not overtaken',
};

export interface JobQuestion {
  readonly job: Job;
  readonly facts: readonly JobFact[];
  readonly block: Block | undefined;
  readonly waiting: readonly Waiting[];
  readonly infeasible: readonly Infeasible[];
  /** Launches since the job was submitted that its demand took part in. */
  readonly scaling: readonly Fact[];
  readonly now: Instant;
}

/** Why a job is where it is: what happened to it, and what it waits for. */
export function whyJob({ job, facts, block, waiting, infeasible, scaling, now }: JobQuestion): WhyAnswer {
  const chain: Step[] = facts.map(({ at, kind, data }) => ({ at, text: factText(kind, data), data }));
  const launches = job.state === 'queued' || job.state === 'starting' ? launchesFor(job, scaling) : [];
  chain.push(...launches);
  const next: string[] = [];
  if (job.state === 'queued') {
    chain.push({
      at: now,
      text: `has waited for ${durationWords(now - job.submittedAt)}: ${block ? blockWords[block] : 'its turn comes next'}`,
    });
    for (const each of waiting)
      if (concerns(each.demand, job)) chain.push({ at: now, text: waitingWords(each, now), data: each });
    for (const each of infeasible)
      if (concerns(each, job)) chain.push({ at: now, text: infeasibleWords(each, now), data: each });
    next.push(
      ...advice(
        waiting.filter((each) => concerns(each.demand, job)),
        block,
      ),
    );
  }
  if (job.state === 'failed')
    next.push(`read its output: manta job logs ${job.id}`, `run it again: manta job retry ${job.id}`);
  return {
    subject: `job ${job.id}`,
    state: `${job.state}: ${job.message}`,
    chain: chain.sort((a, b) => a.at - b.at),
    next,
  };
}

function factText(kind: string, data: Readonly<Record<string, unknown>>): string {
  const details = Object.entries(data)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([key, value]) => `${key} ${String(value)}`);
  return details.length === 0 ? kind : `${kind}: ${details.join(', ')}`;
}

function concerns(demand: Waiting['demand'] | Infeasible, job: Job): boolean {
  if (demand.kind === 'tasks') return resourceWords(demand.request.resources) === resourceWords(job.resources);
  if (demand.kind === 'gang') return (typeof demand.gang === 'string' ? demand.gang : demand.gang.id).includes(job.id);
  return false;
}

function launchesFor(job: Job, scaling: readonly Fact[]): Step[] {
  return scaling.flatMap((fact): Step[] => {
    if (fact.kind === 'refused' && fact.at >= job.submittedAt) {
      const { type, reason, until } = fact.refusal;
      return [
        {
          at: fact.at,
          text: `the provider refused ${type}: ${reason.replace('-', ' ')}; it is asked again ${new Date(until).toISOString()}`,
          data: fact,
        },
      ];
    }
    if (fact.kind !== 'launch' || fact.at < job.submittedAt) return [];
    return [
      {
        at: fact.at,
        text: `asked for ${fact.records.length} of ${fact.action.type}: ${launchWords(fact.action.because)}`,
        data: fact.action,
      },
    ];
  });
}

function advice(waiting: readonly Waiting[], block: Block | undefined): string[] {
  const reasons = new Set(waiting.flatMap((each) => each.for.map((passed) => passed.why.kind)));
  return [
    ...(reasons.has('type-limit') || reasons.has('cluster-limit')
      ? ['raise max_workers in the cluster file and run `manta up` again']
      : []),
    ...(reasons.has('upscaling-speed') ? ['raise upscaling_speed to launch more at once'] : []),
    ...(reasons.has('refused') ? ['list more zones, markets or node types: the provider has none left of these'] : []),
    ...(block === 'user-limit' || block === 'cluster-limit' ? ['wait for other jobs to end, or stop some'] : []),
  ];
}

/** Why an instance is there, and why it went. */
export function whyInstance(id: string, facts: readonly Fact[], now: Instant): WhyAnswer | undefined {
  if (facts.length === 0) return undefined;
  const chain: Step[] = facts.flatMap((fact) => instanceSteps(id, fact));
  const last = facts.findLast((fact) => 'record' in fact);
  const state = last && 'record' in last ? last.record.status : 'requested';
  return {
    subject: `instance ${id}`,
    state: `${state} for ${durationWords(now - (chain.at(-1)?.at ?? now))}`,
    chain,
    next: [],
  };
}

function instanceSteps(id: string, fact: Fact): Step[] {
  switch (fact.kind) {
    case 'launch': {
      const others = fact.action.because
        .flatMap((reason) => reason.instead)
        .map((passed) => passedWords(passed, fact.at));
      return [
        {
          at: fact.at,
          text: `asked for${fact.records.length > 1 ? ` with ${fact.records.length - 1} more of ${fact.action.type}` : ''}, because of ${launchWords(fact.action.because)}`,
          data: fact.action,
        },
        ...(others.length > 0 ? [{ at: fact.at, text: `not chosen: ${[...new Set(others)].join('; ')}` }] : []),
      ];
    }
    case 'instance':
      return fact.moves.map((move) => ({
        at: move.at,
        text: `${move.from} → ${move.to} (${reasonText(move.because)})`,
        data: move,
      }));
    case 'adopted':
      return [{ at: fact.at, text: `taken in: ${fact.why.kind}`, data: fact.why }];
    case 'end': {
      const { because } = fact;
      const text =
        because.kind === 'follow-up'
          ? `it is ${because.status}`
          : because.kind === 'preemption'
            ? 'the provider takes it away'
            : endWords(because, fact.at);
      return [{ at: fact.at, text: `${fact.how === 'drain' ? 'drained' : 'ended'}: ${text}`, data: because }];
    }
    case 'planned':
      return fact.fact.instance === id
        ? [{ at: fact.at, text: fact.fact.kind === 'unneeded' ? 'nothing needs it any more' : 'needed again' }]
        : [];
    default:
      return [];
  }
}

function reasonText(because: {
  readonly kind: string;
  readonly outcome?: string;
  readonly state?: string;
  readonly after?: number;
  readonly detail?: string;
}): string {
  if (because.kind === 'outcome')
    return `${because.outcome?.replaceAll('-', ' ')}${because.detail ? `: ${because.detail}` : ''}`;
  if (because.kind === 'timeout') return `no answer for ${durationWords(because.after ?? 0)}`;
  return `its ${because.kind} is ${because.state}`;
}

/** Why demand waits, all of it. */
export function whyDemand(waiting: readonly Waiting[], infeasible: readonly Infeasible[], now: Instant): WhyAnswer {
  return {
    subject: 'demand',
    state:
      waiting.length + infeasible.length === 0
        ? 'nothing waits'
        : `${waiting.length} waiting, ${infeasible.length} impossible`,
    chain: [
      ...waiting.map((each) => ({ at: now, text: waitingWords(each, now), data: each })),
      ...infeasible.map((each) => ({ at: now, text: infeasibleWords(each, now), data: each })),
    ],
    next: [
      ...advice(waiting, undefined),
      ...infeasible.map((each) => `add a node type that holds ${demandWords(each)}, or ask for less`),
    ],
  };
}
