import { wallClock } from '../../../base/time/wall-clock.ts';
import { manifestErrors } from '../../../core/kube/errors.ts';
import { deleteAll, waitUntilGone } from '../../../kube/delete.ts';
import { kubeEvents } from '../../../kube/events.ts';
import type { Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { withKube } from './connect.ts';
import type { kubeDeleteOptions } from './declaration.ts';
import { openNames } from './names.ts';

export const run: Run<typeof kubeDeleteOptions> = async ({ args, options }, io) => {
  const named = await openNames(args, io);
  if (named.length === 0) throw manifestErrors.Empty({ file: args.join(', ') });
  return await withKube(options, io, async (client) => {
    // Later ones may need earlier ones, so the last is deleted first.
    const doomed = named
      .map((each) => ({ ...each, namespace: each.namespace ?? client.access.namespace }))
      .toReversed();
    const words = doomed.map(({ kind, name, namespace }) => `${kind} '${name}' in '${namespace}'`);
    const nobody = () => manifestErrors.NobodyAgreed({ objects: doomed.length });
    if (!(await confirmed(`Delete ${words.join(', ')}, with all pods?`, options.yes, io, { nobody }))) {
      io.out('Nothing was deleted.\n');
      return 1;
    }
    const deleting = { client, clock: wallClock, timeout: options.timeout * 1_000, signal: io.signal };
    const there = await deleteAll(doomed, deleting);
    if (options.wait) await waitUntilGone(there, deleting);
    for (const each of doomed)
      io.events.emit(kubeEvents.deleted, { kind: each.kind, name: each.name, wasThere: there.includes(each) });
    return 0;
  });
};
