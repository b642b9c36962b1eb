import { wallClock } from '../../../base/time/wall-clock.ts';
import { ServeOnHead, waitForServe } from '../../../client/serve.ts';
import { entriesAt } from '../../../core/kube/object.ts';
import { serveErrors } from '../../../core/serve/errors.ts';
import type { Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { serveShutdownOptions } from './declaration.ts';
import { serviceMeant } from './service.ts';

/** Applications get their graceful_shutdown_timeout_s, which is 20 seconds unless they say otherwise. */
const patience = 120_000;

export const run: Run<typeof serveShutdownOptions> = async (invocation, io) => {
  const service = await serviceMeant(invocation, io);
  if (service !== undefined) throw serveErrors.OfRayService({ name: service });
  return await withHead(invocation, io, async (http) => {
    const serve = new ServeOnHead(http);
    const names = entriesAt(await serve.details(), 'applications').map(([name]) => `'${name}'`);
    const question = `Shut down Serve on ${serve.shown}${names.length === 0 ? '' : ` with ${names.join(', ')}`}?`;
    const nobody = () => serveErrors.NobodyAgreed({ what: 'shutting down Serve' });
    if (!(await confirmed(question, invocation.options.yes, io, { nobody }))) return 1;
    await serve.shutdown();
    const { events, signal } = io;
    await waitForServe(serve, [], { clock: wallClock, events, timeout: patience, signal });
    return 0;
  });
};
