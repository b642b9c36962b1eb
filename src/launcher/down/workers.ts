import type { NodeAnswer, NodesAnswer } from '../../api/types.ts';
import { steadyClock } from '../../base/time/steady-clock.ts';
import type { HttpClient } from '../../client/http.ts';
import { folderOnHead } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';
import type { HeadLook } from '../head/look.ts';
import { clientOnHead } from '../reach/current-cluster.ts';
import type { DownRemoteRequest, DownRemoteResult } from './remote.ts';

const within = 120_000;

/** Ends the workers and keeps the head: mantad is told a lower limit, which stands until the next `up`. */
export async function endWorkers(
  { cluster, keepMinWorkers, ...request }: DownRemoteRequest,
  look: HeadLook,
  signal: AbortSignal,
): Promise<DownRemoteResult> {
  const { head, name, spec } = cluster;
  const clock = steadyClock(request.clock);
  const { serving, ownerToken: token, cluster: record } = look;
  if (serving === undefined || token === undefined || record === undefined)
    throw launcherErrors.HeadUnreached({ name, host: head.name, why: 'mantad is not running there' });
  const kept = keepMinWorkers ? spec.nodeTypes.reduce((sum, type) => sum + type.minWorkers, 0) : 0;
  const changed = { ...record, overrides: { ...record.overrides, maxWorkers: kept } };
  const file = `~/${folderOnHead(name).files.cluster}`;
  await head.put(file, Buffer.from(`${JSON.stringify(changed)}\n`), 0o600, { signal });
  const http = await clientOnHead(cluster, serving, token, signal);
  try {
    const before = await workersOf(http);
    await http.statusOf('POST', '/api/manta/v1/reload');
    for (const until = clock.now() + within; ; ) {
      const now = await workersOf(http);
      const gone = before.filter(({ instance }) => !now.some((each) => each.instance === instance));
      if (now.length <= kept) return { wasThere: true, ended: gone.map(nameOf), left: [] };
      if (clock.now() > until) {
        const why = 'its node is still running; its work may keep it from terminating';
        return { wasThere: true, ended: gone.map(nameOf), left: now.map((each) => ({ host: nameOf(each), why })) };
      }
      await clock.sleep(250, signal);
    }
  } finally {
    http.close();
  }
}

async function workersOf(http: HttpClient): Promise<readonly NodeAnswer[]> {
  const { nodes } = await http.json<NodesAnswer>('GET', '/api/manta/v1/nodes');
  return nodes.filter(({ kind, byHand }) => kind === 'worker' && !byHand);
}

const nameOf = ({ address, instance }: NodeAnswer): string => address ?? instance;
