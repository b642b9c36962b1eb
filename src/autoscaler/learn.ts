import { type InstanceRecord, type Move, setUpFailure } from '../core/lifecycle.ts';
import type { LateRefusal, ProviderInstance } from '../providers/provider.ts';
import type { Executor } from './act/executor.ts';
import { remember } from './act/launch.ts';
import { autoscalerEvents as events } from './events.ts';
import type { ScalingFact } from './journal.ts';
import { granted, inShort, isOfMachines, type RefusedOffer, refuse, refusedLate } from './refusals.ts';

/**
 * What instances that have moved on teach about their type: one that was refused late, never answered or could not be set
 * up is a reason to leave the offer, or the whole type, alone for a while; one that runs is a reason to leave it alone no
 * more. A setup that failed on a machine that is gone or taken back, as a list of `machines` shows, says nothing of its type.
 */
export function learn(
  facts: readonly ScalingFact[],
  executor: Executor,
  machines?: readonly ProviderInstance[],
): ScalingFact[] {
  const learnt: ScalingFact[] = [];
  const failed = new Map(machines?.flatMap(({ id, failed }) => (failed === undefined ? [] : [[id, failed]])));
  const staying = machines && new Set(machines.filter(stays).map(({ id }) => id));
  const said = new Set<string>();
  for (const fact of facts) {
    if (fact.kind !== 'instance' || fact.record.kind !== 'worker') continue;
    for (const move of fact.moves) {
      if (move.to === 'running' && move.from !== 'drain-requested') learnt.push(...success(fact.record, executor));
      const why = failure(move, failed.get(fact.record.providerId ?? ''));
      const taken = staying !== undefined && !staying.has(fact.record.providerId ?? '');
      if (why?.reason === 'setup-failed' && taken) continue;
      if (why === undefined || isKnown(fact.record, why, executor)) continue;
      const key = JSON.stringify([fact.record.type, why.reason, ...(why.reason === 'setup-failed' ? [] : place(fact))]);
      if (said.has(key)) continue;
      said.add(key);
      learnt.push(
        ...(why.reason === 'setup-failed' ? pause(fact.record, why, executor) : timedOut(fact.record, why, executor)),
      );
    }
  }
  return learnt;
}

const place = ({ record }: { readonly record: InstanceRecord }) => [record.zone, record.market];

const stays = ({ state, preemptionAt }: ProviderInstance): boolean =>
  preemptionAt === undefined && (state === 'pending' || state === 'running');

function failure({ to, because }: Move, late: LateRefusal | undefined): RefusedOffer | undefined {
  if (to === 'launch-failed' && because.kind === 'outcome' && because.outcome === 'refused-late' && late !== undefined)
    return refusedLate(late);
  if (to === 'launch-timeout') return { reason: 'launch-timeout' };
  if (to !== 'setup-failed') return undefined;
  const [said] = setUpFailure({ because })?.split('\n') ?? [];
  return { reason: 'setup-failed', ...(said ? { detail: inShort(said) } : {}) };
}

/** Machines that were asked for before the last failure say nothing new: they are those of the same try. */
function isKnown(record: InstanceRecord, { reason }: RefusedOffer, { book }: Executor): boolean {
  const earlier = book.ledger.refusal({ ...offerOf(record), reason });
  return earlier?.reason === reason && record.requestedAt <= earlier.last;
}

const offerOf = ({ type, zone, market = 'on-demand' }: InstanceRecord) => ({
  type,
  market,
  ...(zone === undefined ? {} : { zone }),
});

const timedOut = (record: InstanceRecord, why: RefusedOffer, executor: Executor): ScalingFact[] =>
  record.market === undefined ? [] : remember(offerOf(record), why, executor);

/** A pause for the whole type, wherever its machines are. None where the provider itself passes over what failed. */
function pause(record: InstanceRecord, why: RefusedOffer, { book, edges, settings }: Executor): ScalingFact[] {
  if (settings.refusals.first['setup-failed'] === 0) return [];
  const at = edges.clock.now();
  const offer = offerOf(record);
  const refusal = refuse(book.ledger.refusal({ ...offer, ...why }), offer, why, at, settings.refusals);
  edges.events.emit(events.paused, { type: record.type, times: refusal.times, until: refusal.until });
  return [{ kind: 'refused', at, refusal }];
}

function success(record: InstanceRecord, { book, edges }: Executor): ScalingFact[] {
  const offer = offerOf(record);
  return [book.ledger.refusal({ ...offer, reason: 'setup-failed' }), book.ledger.refusal(offer)].flatMap((refusal) =>
    refusal !== undefined && isOfMachines(refusal) ? [granted(refusal, edges.clock.now())] : [],
  );
}
