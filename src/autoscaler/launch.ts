import type { Instant } from '../base/clock.ts';
import type { InstanceId, Market, NodeTypeName } from '../core/instance.ts';
import { type InstanceRecord, isFinal, type Outcome } from '../core/lifecycle.ts';
import type { Launch } from '../core/plan/plan.ts';
import type { ScalingType } from '../core/scaling.ts';
import { providerErrors } from '../providers/errors.ts';
import type { ProviderInstance } from '../providers/provider.ts';
import { autoscalerEvents as events } from './events.ts';
import type { Executor } from './executor.ts';
import type { Fact } from './journal.ts';
import type { Ledger } from './ledger.ts';
import { granted, isOfMachines, type Refused, refuse, refusedBy, wordsOf } from './refusals.ts';

/** What to ask the provider for, under a token that is in the journal. */
export interface LaunchOrder {
  readonly token: string;
  readonly type: NodeTypeName;
  readonly count: number;
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
): Extract<Fact, { kind: 'launch' }> {
  const token = newId();
  const hosts = Math.max(1, type.hostsPerSlice);
  const slice = hosts > 1 ? newId() : undefined;
  const records = Array.from(
    { length: count },
    (): InstanceRecord => ({
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
    }),
  );
  return { kind: 'launch', at, token, action, records };
}

/**
 * Goes on with launches that were asked for and never answered: those of a crash, and those whose tries have all failed.
 * Once a complete list, asked for at `listedAt`, would show what the last try made and shows nothing, the launch counts as
 * refused, which is what the facts say: another offer gets its turn. What comes late is taken in by its token, and ended.
 */
export function followUpLaunches(executor: Executor, listedAt: Instant | undefined): Fact[] {
  const { book, unanswered, settings } = executor;
  const orders = unansweredLaunches(book.ledger.records);
  const waiting = new Set(orders.map(({ token }) => token));
  for (const token of unanswered.keys()) if (!waiting.has(token)) unanswered.delete(token);
  return orders.flatMap((order) => {
    if (executor.launching(order.token)) return [];
    const last = unanswered.get(order.token);
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
      ...(record.zone === undefined ? {} : { zone: record.zone }),
    });
  }
  return [...orders.values()].filter((order) => waiting.has(order.token));
}

/** Asks until there is an answer, always under the same token, and writes down what came of it. */
export async function carryOutLaunch(order: LaunchOrder, executor: Executor): Promise<void> {
  const { edges, calls, settings, book } = executor;
  const request = { ...order, tags: {} };
  for (let attempt = 1; ; attempt++) {
    try {
      const made = await calls.make(
        () => providerErrors.Unreachable({ call: 'launch' }),
        (signal) => edges.provider.launch(request, signal),
      );
      await book.write(given(order, made, executor));
      return;
    } catch (error) {
      const why = refusedBy(error);
      if (why !== undefined && (why.reason !== 'throttled' || attempt >= settings.launchTries)) {
        await book.write(refused(order, why, executor));
        return;
      }
      if (executor.stopped) return;
      // Whether it took effect is not known: only its token, or the list, can tell.
      if (why === undefined) tellUnanswered(order, error, executor);
      if (attempt >= settings.launchTries) return;
    }
    await edges.clock.sleep(settings.launchRetry * 2 ** (attempt - 1));
  }
}

/** Each thing once a launch, however often it is tried. */
function tellUnanswered(order: LaunchOrder, error: unknown, { edges, unanswered }: Executor): void {
  const { type, zone, market, token } = order;
  const said = wordsOf(error);
  if (unanswered.get(token)?.said !== said) edges.events.emit(events.unanswered, { type, zone, market, token, said });
  unanswered.set(token, { at: edges.clock.now(), said });
}

/** Machines are tied to records; records that got none have failed. */
function given(order: LaunchOrder, made: readonly ProviderInstance[], executor: Executor): Fact[] {
  const { book, edges } = executor;
  const unmatched = new Set(made.map((machine) => machine.id).filter((id) => book.ledger.ofMachine(id) === undefined));
  const outcomes: [InstanceId, Outcome][] = [];
  let short = 0;
  for (const record of book.ledger.ofToken(order.token)) {
    if (record.providerId !== undefined || isFinal(record.status)) continue;
    const [machine] = unmatched;
    if (machine === undefined) {
      short++;
      outcomes.push([record.id, { kind: 'launch-refused', reason: 'partial fill' }]);
    } else {
      unmatched.delete(machine);
      outcomes.push([record.id, { kind: 'launched', providerId: machine }]);
    }
  }
  edges.events.emit(events.launched, {
    type: order.type,
    asked: order.count,
    given: order.count - short,
    token: order.token,
  });
  return [
    ...book.outcomes(outcomes),
    ...(short > 0 ? remember(order, { reason: 'no-capacity' }, executor) : forget(order, executor)),
  ];
}

function refused(order: LaunchOrder, why: Refused, executor: Executor): Fact[] {
  const { book } = executor;
  const reason = why.detail === undefined ? why.reason : `${why.reason}: ${why.detail}`;
  const failed = book.ledger
    .ofToken(order.token)
    .filter((record) => record.providerId === undefined)
    .map((record): [InstanceId, Outcome] => [record.id, { kind: 'launch-refused', reason }]);
  return [...book.outcomes(failed), ...remember(order, why, executor)];
}

/** The fact that an offer was refused once more. */
export function remember(order: Omit<LaunchOrder, 'token' | 'count'>, why: Refused, executor: Executor): Fact[] {
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
export const forgiven = (ledger: Ledger, at: Instant): Fact[] =>
  ledger.memory.refusals.map((refusal) => granted(refusal, at));

function forget(order: LaunchOrder, { book, edges }: Executor): Fact[] {
  const refusal = book.ledger.refusal(order);
  return refusal === undefined || isOfMachines(refusal) ? [] : [granted(refusal, edges.clock.now())];
}
