import type { WhyAnswer } from '../api/types.ts';
import type { Fact } from '../autoscaler/journal.ts';
import type { Instant } from '../base/clock.ts';
import { type Move, setUpFailure } from '../core/lifecycle.ts';
import type { Infeasible, Waiting } from '../core/plan/plan.ts';
import {
  beyondLimits,
  demandWords,
  durationWords,
  infeasibleWords,
  launchWords,
  passedWords,
  waitingWords,
} from '../core/plan/words.ts';
import type { Refusal } from '../core/view.ts';
import { endedWords } from './history-facts.ts';

type Step = WhyAnswer['chain'][number];

/** What could be changed so that demand is served. */
export function advice(waiting: readonly Waiting[], infeasible: readonly Infeasible[]): string[] {
  const all = waiting.flatMap((each) => each.for.map(({ why }) => why));
  const reasons = new Set(all.map(({ kind }) => kind));
  const limits = all.filter((why) => why.kind === 'type-limit' || why.kind === 'cluster-limit');
  const limited = limits.some(({ leaving }) => leaving === undefined) || infeasible.some(beyondLimits);
  return [
    ...(limited ? ['raise max_workers in the cluster file and run `manta up` again'] : []),
    ...(reasons.has('upscaling-speed') ? ['raise upscaling_speed to launch more at once'] : []),
    ...(limits.some(({ leaving }) => leaving !== undefined)
      ? ['wait until what is being ended is gone: `manta events` says what keeps it']
      : []),
    ...new Set(all.flatMap((why) => (why.kind === 'refused' ? [afterRefusal[why.refusal.reason]] : []))),
    ...infeasible
      .filter((each) => !beyondLimits(each))
      .map((each) => `add a node type that holds ${demandWords(each)}, or ask for less`),
  ];
}

const afterRefusal: Readonly<Record<Refusal['reason'], string>> = {
  'no-capacity':
    'list more hosts, zones, markets or node types: the provider has none left of these, and `manta events` says why',
  quota: 'ask the provider for a higher quota, list node types that another quota covers, or lower max_workers',
  throttled: 'wait: the provider takes fewer calls than are made, and is asked again',
  denied: 'check the credentials and their permissions, and what node_config asks for; then run `manta up` again',
  unanswered: 'see whether the provider is well: `manta events` has its words; list more zones, markets or node types',
  'launch-timeout': 'look at the machines in the pages of the provider: they were given and never answered',
  'setup-failed':
    'mend what sets the node up (setup_commands, start commands, image): `manta events` has what it said; then run `manta up` again',
};

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

/** Of a node that nobody asked a provider for. */
export const whyByHand = (id: string): WhyAnswer => ({
  subject: `node ${id}`,
  state: 'added by hand: it takes work, counts in no limit, and is never ended by the cluster',
  chain: [],
  next: ['to be rid of it, end Ray on its machine'],
});

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
        text: `${move.from} → ${move.to} (${moveText(move)})`,
        data: move,
      }));
    case 'adopted':
      return [{ at: fact.at, text: `taken in: ${fact.why.kind}`, data: fact.why }];
    case 'end':
      return [
        { at: fact.at, text: `${fact.how === 'drain' ? 'drained' : 'ended'}: ${endedWords(fact)}`, data: fact.because },
      ];
    case 'planned':
      return fact.fact.instance === id
        ? [{ at: fact.at, text: fact.fact.kind === 'unneeded' ? 'nothing needs it any more' : 'needed again' }]
        : [];
    default:
      return [];
  }
}

function moveText(move: Move): string {
  const { because, to } = move;
  if (because.kind === 'outcome')
    return `${because.outcome.replaceAll('-', ' ')}${because.detail ? `: ${because.detail}` : ''}`;
  if (because.kind !== 'timeout') return `its ${because.kind} is ${because.state}`;
  return (to === 'setup-failed' && setUpFailure(move)) || `no answer for ${durationWords(because.after)}`;
}

/** Why demand waits, all of it. */
export function whyDemand(
  waiting: readonly Waiting[],
  infeasible: readonly Infeasible[],
  now: Instant,
  engineSilence?: string,
): WhyAnswer {
  return {
    subject: 'demand',
    state:
      engineSilence !== undefined
        ? 'what waits is not known in full'
        : waiting.length + infeasible.length === 0
          ? 'nothing waits'
          : `${waiting.length} waiting, ${infeasible.length} impossible`,
    chain: [
      ...(engineSilence === undefined ? [] : [{ at: now, text: engineSilence, data: { block: 'engine-silent' } }]),
      ...waiting.map((each) => ({ at: now, text: waitingWords(each, now), data: each })),
      ...infeasible.map((each) => ({ at: now, text: infeasibleWords(each, now), data: each })),
    ],
    next: advice(waiting, infeasible),
  };
}
