import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { EventSink } from '../base/events.ts';
import { providerErrors } from '../providers/errors.ts';
import type { Provider } from '../providers/provider.ts';
import { Calls } from './calls.ts';
import { autoscalerEvents as events } from './events.ts';
import { type LoopSettings, loopSettings } from './settings.ts';

export interface TeardownOptions {
  readonly clock: Clock;
  readonly provider: Provider;
  readonly events: EventSink;
  /** End the head as well. */
  readonly head: boolean;
  readonly settings?: Partial<LoopSettings>;
}

/**
 * Ends every instance of the cluster and comes back only when complete lists have shown none for as long as a list may
 * lag: a launch whose answer was lost a moment ago is found and ended too. The loop must have been stopped before.
 */
export async function endAllInstances(options: TeardownOptions, signal: AbortSignal): Promise<void> {
  const settings = { ...loopSettings, ...options.settings };
  const calls = new Calls(options.clock, settings.callDeadline);
  const pause = settings.sweep;
  let clearFor = 0;
  while (clearFor < settings.listLag) {
    try {
      const listed = await calls.make(
        () => providerErrors.Unreachable({ call: 'list' }),
        (own) => options.provider.list(own),
      );
      const left = listed.filter((instance) => options.head || instance.kind === 'worker');
      clearFor = left.length === 0 ? clearFor + pause : 0;
      const ids = [...new Set(left.filter((each) => each.state !== 'stopping').map((each) => each.id))];
      if (ids.length > 0) {
        await calls.make(
          () => providerErrors.Unreachable({ call: 'terminate' }),
          (own) => options.provider.terminate(ids, own),
        );
      }
    } catch (error) {
      clearFor = 0;
      options.events.emit(events.failed, { during: 'ending all instances', reason: messageOf(error) });
    }
    await options.clock.sleep(pause, signal);
  }
}
