import { KubeClient } from '../../../base/kube/client.ts';
import { openKubeAccess } from '../../../base/kube/config.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import type { Io } from '../../command.ts';

/** Does something with the API server that is meant, and ends the connections to it. */
export async function withKube<Result>(
  { context, namespace }: { readonly context?: string | undefined; readonly namespace?: string | undefined },
  io: Io,
  work: (client: KubeClient) => Promise<Result>,
): Promise<Result> {
  const client = new KubeClient(openKubeAccess({ env: io.env, context, namespace }), wallClock);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
