import type { WhyAnswer } from '../../api/types.ts';
import type { ScalingFact } from '../../autoscaler/journal.ts';
import type { Instant } from '../../base/time/clock.ts';
import { type Move, setUpFailure } from '../../core/lifecycle.ts';
import type { InfeasibleDemand, Waiting } from '../../core/plan/plan.ts';
import {
  beyondLimits,
  demandWords,
  durationWords,
  infeasibleWords,
  launchWords,
  passedWords,
  waitingWords,
} from '../../core/plan/words.ts';
import type { LaunchRefusal } from '../../core/view.ts';
import { endedWords } from '../journal/history-facts.ts';
import { type GoneSlice, goneSliceOf } from './gone-slices.ts';

type Step = WhyAnswer['chain'][number];

/** What could be changed so that demand is served. */
export function advice(waiting: readonly Waiting[], infeasible: readonly InfeasibleDemand[]): string[] {
  const all = waiting.flatMap((each) => each.for.map(({ why }) => why));
  const reasons = new Set(all.map(({ kind }) => kind));
  const limits = all.filter((why) => why.kind === 'type-limit' || why.kind === 'cluster-limit');
  const limited = limits.some(({ leaving }) => leaving === undefined) || infeasible.some(beyondLimits);
  return [
    ...(limited ? ['raise max_workers in the cluster file and run `manta up` again'] : []),
    ...(reasons.has('upscaling-speed') ? ['raise upscaling_speed to launch more at once'] : []),
    ...(limits.some(({ leaving }) => leaving !== undefined)
      ? ['wait until the terminating nodes are gone; `manta events` shows what delays them']
      : []),
    ...new Set(all.flatMap((why) => (why.kind === 'refused' ? [afterRefusal[why.refusal.reason]] : []))),
    ...infeasible
      .filter((each) => !beyondLimits(each))
      .map((each) => `add a node type that fits ${demandWords(each)}, or request less`),
  ];
}

const afterRefusal: Readonly<Record<LaunchRefusal['reason'], string>> = {
  'no-capacity':
    'list more hosts, zones, markets or node types: the provider has none left of these; `manta events` shows why',
  quota: 'request a higher quota from the provider, list node types covered by another quota, or lower max_workers',
  throttled: 'wait: the provider is rate-limiting requests, and Manta retries them',
  denied: 'check the credentials, their permissions and node_config; then run `manta up` again',
  unanswered:
    "check the provider's status (`manta events` shows its responses), or list more zones, markets or node types",
  'launch-timeout': "look at the machines in the provider's console: they were launched but never came up",
  'setup-failed':
    'fix the setup of the node (setup_commands, start commands, image), see `manta events` for its output; then run `manta up` again',
};

/** Why an instance is there, and why it went. */
export function whyInstance(id: string, facts: readonly ScalingFact[], now: Instant): WhyAnswer | undefined {
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

/** Of a node that nobody asked a provider for. */
export const whyByHand = (id: string): WhyAnswer => ({
  subject: `node ${id}`,
  state: 'added by hand: it takes work, counts towards no limit, and Manta never terminates it',
  chain: [],
  next: ['to remove it, stop Ray on its machine'],
});

function instanceSteps(id: string, fact: ScalingFact): Step[] {
  switch (fact.kind) {
    case 'launch': {
      const others = fact.action.because
        .flatMap((reason) => reason.instead)
        .map((passed) => passedWords(passed, fact.at));
      return [
        {
          at: fact.at,
          text: `requested${fact.records.length > 1 ? ` with ${fact.records.length - 1} more of ${fact.action.type}` : ''}, for ${launchWords(fact.action.because)}`,
          data: fact.action,
        },
        ...(others.length > 0 ? [{ at: fact.at, text: `not chosen: ${[...new Set(others)].join('; ')}` }] : []),
      ];
    }
    case 'instance':
      return fact.moves.map((move) => ({
        at: move.at,
        text: `${move.from} → ${move.to} (${moveText(move)})`,
        data: move,
      }));
    case 'adopted':
      return [{ at: fact.at, text: `adopted: ${fact.why.kind}`, data: fact.why }];
    case 'end':
      return [
        {
          at: fact.at,
          text: `${howWords[fact.how]}: ${endedWords(fact)}`,
          data: fact.because,
        },
      ];
    case 'planned':
      return fact.fact.instance === id
        ? [{ at: fact.at, text: fact.fact.kind === 'unneeded' ? 'no longer needed' : 'needed again' }]
        : [];
    default:
      return [];
  }
}

const howWords = { drain: 'drained', stop: 'machine stopped', terminate: 'terminated' };

function moveText(move: Move): string {
  const { because, to } = move;
  if (because.kind === 'outcome')
    return `${because.outcome.replaceAll('-', ' ')}${because.detail ? `: ${because.detail}` : ''}`;
  if (because.kind !== 'timeout') return `its ${because.kind} is ${because.state}`;
  return (to === 'setup-failed' && setUpFailure(move)) || `no response for ${durationWords(because.after)}`;
}

function goneSliceWords(demand: InfeasibleDemand, slice: GoneSlice | undefined, now: Instant): string | undefined {
  if (slice === undefined) return undefined;
  const since = durationWords(now - slice.at);
  return `${demandWords(demand)} waits for the slice ${slice.name}, which ended ${since} ago: no other slice gets its name`;
}

/** Why demand waits, all of it. */
export function whyDemand(
  waiting: readonly Waiting[],
  infeasible: readonly InfeasibleDemand[],
  now: Instant,
  engineSilence?: string,
  gone: ReadonlyMap<string, GoneSlice> = new Map(),
): WhyAnswer {
  const lost = infeasible.filter((each) => goneSliceOf(each, gone) !== undefined);
  return {
    subject: 'demand',
    state:
      engineSilence !== undefined
        ? 'the waiting demand is not fully known'
        : waiting.length + infeasible.length === 0
          ? 'nothing is waiting'
          : `${waiting.length} waiting, ${infeasible.length} impossible`,
    chain: [
      ...(engineSilence === undefined ? [] : [{ at: now, text: engineSilence, data: { block: 'engine-silent' } }]),
      ...waiting.map((each) => ({ at: now, text: waitingWords(each, now), data: each })),
      ...infeasible.map((each) => ({
        at: now,
        text: goneSliceWords(each, goneSliceOf(each, gone), now) ?? infeasibleWords(each, now),
        data: each,
      })),
    ],
    next: [
      ...advice(
        waiting,
        infeasible.filter((each) => !lost.includes(each)),
      ),
      ...(lost.length > 0
        ? ['stop the work that asks for it (`manta job list`), and let it ask for a slice by its type: TPU-<type>-head']
        : []),
    ],
  };
}
