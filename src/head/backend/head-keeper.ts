import type { Clock } from '../../base/time/clock.ts';
import type { Provider } from '../../providers/provider.ts';

export interface HeadKeeperOptions {
  readonly provider: Provider;
  readonly clock: Clock;
  readonly headType: () => string;
  readonly newToken: () => string;
  /** Tags that make the provider see the instance as the head. */
  readonly tags: Readonly<Record<string, string>>;
  readonly failed: (error: unknown) => void;
}

const lookEvery = 2_000;

/**
 * Keeps one head node on this machine. The planner never touches the head, so somebody has to see to it that there is
 * one: jobs that ask for nothing run there.
 */
export async function keepHead(options: HeadKeeperOptions, signal: AbortSignal): Promise<void> {
  const { provider, clock } = options;
  let token = options.newToken();
  while (!signal.aborted) {
    try {
      const heads = (await provider.list(signal)).filter((instance) => instance.kind === 'head');
      if (heads.every((head) => head.state === 'stopping' || head.state === 'stopped')) {
        const launched = await provider.launch(
          { token, type: options.headType(), count: 1, market: 'on-demand', tags: options.tags },
          signal,
        );
        // A token that once made a head makes no second one: the next loss needs a new token.
        if (launched.length > 0 || heads.length > 0) token = options.newToken();
      }
    } catch (error) {
      if (!signal.aborted) options.failed(error);
    }
    await clock.sleep(lookEvery, signal).catch(() => {});
  }
}
