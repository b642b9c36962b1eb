import type { Instant } from '../../base/time/clock.ts';
import { doubling, retry } from '../../base/time/retry.ts';
import type { InstanceId, Market, NodeTypeName } from '../../core/instance.ts';
import { type InstanceOutcome, type InstanceRecord, isFinal } from '../../core/lifecycle.ts';
import type { Launch } from '../../core/plan/plan.ts';
import { mantaTags } from '../../core/ray-tags.ts';
import type { ScalingType } from '../../core/scaling.ts';
import { providerErrors } from '../../providers/errors.ts';
import type { LaunchRequest, ProviderInstance } from '../../providers/provider.ts';
import { autoscalerEvents as events } from '../events.ts';
import type { ScalingFact } from '../journal.ts';
import type { Ledger } from '../ledger.ts';
import { isRestarted, launchedAs } from '../observe/match.ts';
import { granted, isOfMachines, type RefusedOffer, refuse, refusedBy, wordsOf } from '../refusals.ts';
import type { Executor } from './executor.ts';

/** What to ask the provider for, under a token that is in the journal. */
export interface LaunchOrder {
  readonly token: string;
  readonly type: NodeTypeName;
  /** Of instances. */
  readonly count: number;
  /** They are the hosts of one slice. */
  readonly slice?: true;
  readonly launchHash?: string;
  readonly zone?: string;
  readonly market: Market;
}

/** The fact to write before a launch: its token, and a record for each instance that is asked for. */
export function intendLaunch(
  action: Launch,
  type: ScalingType,
  count: number,
  at: number,
  newId: () => string,
): Extract<ScalingFact, { kind: 'launch' }> {
  const token = newId();
  const hosts = Math.max(1, type.hostsPerSlice);
  const slice = hosts > 1 ? newId() : undefined;
  const records = Array.from(
    { length: count },
    (_, index): InstanceRecord => ({
      id: newId(),
      type: action.type,
      kind: 'worker',
      status: 'requested',
      requestedAt: at,
      since: at,
      attempts: 1,
      launchToken: token,
      market: action.market,
      ...(action.zone === undefined ? {} : { zone: action.zone }),
      ...(type.launchHash === '' ? {} : { launchHash: type.launchHash }),
      ...(slice === undefined ? {} : { slice }),
      ...(index % hosts === 0 && type.firstHost ? { extra: type.firstHost } : {}),
    }),
  );
  return { kind: 'launch', at, token, action, records };
}

/**
 * Goes on with launches that were asked for and never answered: those of a crash, and those whose tries have all failed.
 * Once a complete list, asked for at `listedAt`, would show what the last try made and shows nothing, the launch counts as
 * refused, which is what the facts say: another offer gets its turn. What comes late is taken in by its token, and ended.
 */
export function followUpLaunches(executor: Executor, listedAt: Instant | undefined): ScalingFact[] {
  const { book, settings } = executor;
  const orders = unansweredLaunches(book.ledger.records);
  executor.forgetAnswered(new Set(orders.map(({ token }) => token)));
  return orders.flatMap((order) => {
    if (executor.launching(order.token)) return [];
    const last = executor.unanswered(order.token);
    if (last === undefined || listedAt === undefined) executor.launch(order);
    else if (listedAt - last.at >= settings.listLag)
      return refused(order, { reason: 'unanswered', detail: last.said }, executor);
    return [];
  });
}

function unansweredLaunches(records: Iterable<InstanceRecord>): LaunchOrder[] {
  const orders = new Map<string, LaunchOrder>();
  const waiting = new Set<string>();
  for (const record of records) {
    const { launchToken: token, market } = record;
    if (token === undefined || market === undefined || record.kind === 'head') continue;
    const order = orders.get(token);
    if (record.status === 'requested' || record.status === 'queued') waiting.add(token);
    orders.set(token, {
      token,
      type: record.type,
      count: (order?.count ?? 0) + 1,
      market,
      ...(record.slice === undefined ? {} : { slice: true }),
      ...(record.launchHash === undefined ? {} : { launchHash: record.launchHash }),
      ...(record.zone === undefined ? {} : { zone: record.zone }),
    });
  }
  return [...orders.values()].filter((order) => waiting.has(order.token));
}

/** Asks until there is an answer, always under the same token, and writes down what came of it. */
export async function carryOutLaunch(order: LaunchOrder, executor: Executor): Promise<void> {
  const { edges, calls, settings, book } = executor;
  const request = requestOf(order, edges.provider.slices === true);
  const launch = async (): Promise<void> => {
    const made = await calls.make(
      () => providerErrors.Unreachable({ call: 'launch' }),
      (signal) => edges.provider.launch(request, signal),
    );
    await book.write(given(order, made, executor));
  };
  const again = (error: unknown, tries: number): boolean => {
    const why = refusedBy(error);
    const isLast = tries >= settings.launchTries;
    if (why !== undefined) return why.reason === 'throttled' && !isLast;
    // Whether it took effect is not known: only its token, or the list, can tell.
    if (!executor.stopped) tellUnanswered(order, error, executor);
    return !isLast;
  };
  const pause = doubling(settings.launchRetry);
  try {
    await retry(launch, { clock: edges.clock, signal: executor.stopping, pause, again });
  } catch (error) {
    const why = refusedBy(error);
    if (why !== undefined) await book.write(refused(order, why, executor));
  }
}

function requestOf(order: LaunchOrder, slices: boolean): LaunchRequest {
  const { token, type, count, slice, launchHash, zone, market } = order;
  return {
    token,
    type,
    ...(slice && slices ? { count: 1, slice: { hosts: count } } : { count }),
    ...(zone === undefined ? {} : { zone }),
    market,
    tags: launchHash === undefined ? {} : { [mantaTags.launchHash]: launchHash },
  };
}

/** Each thing once a launch, however often it is tried. */
function tellUnanswered(order: LaunchOrder, error: unknown, executor: Executor): void {
  const { type, zone, market, token } = order;
  const said = wordsOf(error);
  if (executor.unanswered(token)?.said !== said)
    executor.edges.events.emit(events.unanswered, { type, zone, market, token, said });
  executor.noteUnanswered(token, said);
}

/** Machines are tied to records; records that got none have failed. */
function given(order: LaunchOrder, made: readonly ProviderInstance[], executor: Executor): ScalingFact[] {
  const { book, edges } = executor;
  const unmatched = new Map(
    made.filter(({ id }) => isFree(book.ledger.ofMachine(id), order)).map((machine) => [machine.id, machine]),
  );
  const restarted: [InstanceId, InstanceOutcome][] = [];
  const outcomes: [InstanceId, InstanceOutcome][] = [];
  let short = 0;
  for (const record of book.ledger.ofToken(order.token)) {
    if (record.providerId !== undefined || isFinal(record.status)) continue;
    const [machine] = unmatched.values();
    if (machine === undefined) {
      // A slice is given whole: one that has fewer hosts than its type promises lacks nothing.
      if (made[0]?.slice === undefined) short++;
      outcomes.push([record.id, { kind: 'launch-refused', reason: 'partial fill' }]);
    } else {
      unmatched.delete(machine.id);
      const before = book.ledger.ofMachine(machine.id);
      if (before !== undefined) restarted.push([before.id, { kind: 'restarted' }]);
      outcomes.push([record.id, launchedAs({ ...machine, launchToken: order.token }, book.ledger)]);
    }
  }
  edges.events.emit(events.launched, {
    type: order.type,
    asked: order.count,
    given: order.count - short,
    token: order.token,
  });
  return [
    // What a machine was before comes first: from here on it is the instance that was asked for.
    ...book.outcomes(restarted),
    ...book.outcomes(outcomes),
    ...(short > 0 ? remember(order, { reason: 'no-capacity' }, executor) : forget(order, executor)),
  ];
}

/** Nobody's, or what a machine was before it was started again for this launch. */
const isFree = (known: InstanceRecord | undefined, { token }: LaunchOrder): boolean =>
  known === undefined || isRestarted(known, token);

function refused(order: LaunchOrder, why: RefusedOffer, executor: Executor): ScalingFact[] {
  const { book } = executor;
  const reason = why.detail === undefined ? why.reason : `${why.reason}: ${why.detail}`;
  const failed = book.ledger
    .ofToken(order.token)
    .filter((record) => record.providerId === undefined)
    .map((record): [InstanceId, InstanceOutcome] => [record.id, { kind: 'launch-refused', reason }]);
  return [...book.outcomes(failed), ...remember(order, why, executor)];
}

/** The fact that an offer was refused once more. */
export function remember(
  order: Omit<LaunchOrder, 'token' | 'count'>,
  why: RefusedOffer,
  executor: Executor,
): ScalingFact[] {
  const { book, edges, settings } = executor;
  const at = edges.clock.now();
  const refusal = refuse(book.ledger.refusal(order), order, why, at, settings.refusals);
  const { type, zone, market, times, until } = refusal;
  if (why.reason === 'unanswered')
    edges.events.emit(events.givenUp, { type, zone, market, said: why.detail, times, until });
  else edges.events.emit(events.refused, { type, zone, market, ...why, times, until });
  return [{ kind: 'refused', at, refusal }];
}

/** The facts after which no offer is left alone any more. */
export const forgiven = (ledger: Ledger, at: Instant): ScalingFact[] =>
  ledger.memory.refusals.map((refusal) => granted(refusal, at));

function forget(order: LaunchOrder, { book, edges }: Executor): ScalingFact[] {
  const refusal = book.ledger.refusal(order);
  return refusal === undefined || isOfMachines(refusal) ? [] : [granted(refusal, edges.clock.now())];
}
