import { Autoscaler, type AutoscalerOptions } from '../../src/autoscaler/loop.ts';
import { MemoryJournal } from '../../src/autoscaler/memory-journal.ts';
import type { EventKind, EventSink } from '../../src/base/events.ts';
import { plan } from '../../src/core/plan/plan-cluster.ts';
import type { Provider } from '../../src/providers/provider.ts';
import type { World } from '../../src/simulation/world.ts';

/** The loop in a simulated world, with what it did within reach. */
export function loopIn(world: World, change: Partial<AutoscalerOptions> = {}) {
  const journal = new MemoryJournal();
  const told: { readonly code: string; readonly data: unknown }[] = [];
  const events: EventSink = {
    emit: <Data>(kind: EventKind<Data>, data: Data) => void told.push({ code: kind.code, data }),
  };
  let ids = 0;
  const options: AutoscalerOptions = {
    clock: world.clock,
    provider: world.cloud,
    engine: world.engine,
    starter: world.starter,
    events,
    journal,
    planner: plan,
    spec: () => world.scenario.spec,
    newId: () => `id-${++ids}`,
    ...change,
  };
  const autoscaler = new Autoscaler(options);
  const controller = new AbortController();
  world.onChange = () => autoscaler.wake();
  return {
    autoscaler,
    journal,
    told,
    options,
    happened: (code: string) => told.filter((event) => event.code === `MANTA_AUTOSCALER_${code}`),
    start: () => void autoscaler.run(controller.signal),
    stop: () => controller.abort(),
  };
}

/** The world's provider with a call of it replaced. */
export const providerOf = (world: World, change: Partial<Provider>): Provider => ({
  list: (signal) => world.cloud.list(signal),
  launch: (request, signal) => world.cloud.launch(request, signal),
  terminate: (ids, signal) => world.cloud.terminate(ids, signal),
  tag: (id, tags, signal) => world.cloud.tag(id, tags, signal),
  ...change,
});

/** Lets the world go on for so many seconds. */
export const seconds = (world: World, count: number): Promise<void> => world.time.run(world.time.now + count * 1_000);
