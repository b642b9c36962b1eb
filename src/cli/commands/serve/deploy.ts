import { wallClock } from '../../../base/time/wall-clock.ts';
import { clientEvents } from '../../../client/events.ts';
import { ServeOnHead, waitForServe } from '../../../client/serve.ts';
import { dig, isMap, type JsonMap, textAt } from '../../../core/kube/object.ts';
import { configIn, serveChangeOf } from '../../../core/serve/change.ts';
import { serveErrors } from '../../../core/serve/errors.ts';
import type { InvocationOf, Io, Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { changeText, isChange } from './change-text.ts';
import type { serveDeployOptions, serveScaleOptions } from './declaration.ts';
import { openServeConfig } from './open-config.ts';
import { changeService } from './service.ts';

type Waits = Pick<InvocationOf<typeof serveScaleOptions>['options'], 'wait' | 'timeout'>;

export const run: Run<typeof serveDeployOptions> = async (invocation, io) => {
  const { args, options } = invocation;
  const config = await openServeConfig(args[0]!, io);
  const onService = await changeService(invocation, { ...options, config: () => config }, io);
  if (onService !== undefined) return onService;
  return await withHead(invocation, io, async (http) => {
    const serve = new ServeOnHead(http);
    const details = await serve.details();
    const runs = textAt(details, 'controller_info', 'actor_name') !== undefined;
    // Pods are reached by their addresses; everywhere else nobody but the gateway is to reach Serve.
    const value = http.target.onKube === undefined ? onLoopback(config.value) : config.value;
    const change = serveChangeOf(configIn(details), value);
    io.out(io.json ? `${JSON.stringify({ plan: change })}\n` : changeText(change));
    if (options.plan) return 0;
    const nobody = () => serveErrors.NobodyAgreed({ what: 'deploying a Serve config' });
    if (isChange(change) && !(await confirmed('Deploy this?', options.yes, io, { nobody }))) {
      io.out('Nothing was deployed.\n');
      return 1;
    }
    if (!runs && value !== config.value) io.events.emit(clientEvents.serveOnLoopback, { cluster: serve.shown });
    await deployAndWait(serve, value, options, io);
    return 0;
  });
};

/** Sends a config and waits until Serve runs it. */
export async function deployAndWait(
  serve: ServeOnHead,
  config: JsonMap,
  { wait, timeout }: Waits,
  io: Io,
): Promise<void> {
  await serve.deploy(config);
  if (!wait) return;
  const { events, signal } = io;
  const applications = dig(config, 'applications');
  await waitForServe(serve, Array.isArray(applications) ? applications : [], {
    clock: wallClock,
    events,
    timeout: timeout * 1_000,
    signal,
  });
}

/** Serve listens on all addresses where nobody says otherwise: on machines that are reached over SSH, that is open to their network. */
function onLoopback(config: JsonMap): JsonMap {
  const options = dig(config, 'http_options');
  if (textAt(options, 'host') !== undefined) return config;
  return { ...config, http_options: { ...(isMap(options) ? options : {}), host: '127.0.0.1' } };
}
