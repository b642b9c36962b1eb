import type { IncomingMessage, ServerResponse } from 'node:http';
import { asCloudError } from './call-desk.ts';
import type { Cloud } from './cloud.ts';
import { cloudErrors } from './errors.ts';
import { answer, answerError, readAsked } from './http.ts';
import type { CloudInstance } from './instance.ts';

/** Where instances ask about themselves. */
export const metadataAddress = '169.254.169.254';

/**
 * Serves `/latest` to instances: who asks is told by the address alone. The header keeps out programs that were talked
 * into fetching an address.
 */
export async function serveMetadata(cloud: Cloud, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { method, path } = await readAsked(request);
    const instance = cloud.at(request.socket.remoteAddress ?? '');
    if (instance === undefined) throw cloudErrors.denied('metadata is for instances alone');
    if (request.headers['metadata'] !== 'true') throw cloudErrors.denied("the header 'Metadata: true' is missing");
    answer(response, 200, metadataOf(cloud, instance, `${method} /${path.join('/')}`));
  } catch (error) {
    answerError(response, asCloudError(error));
  }
}

function metadataOf(cloud: Cloud, instance: CloudInstance, asked: string): unknown {
  const { preemptionAt } = instance.now;
  switch (asked) {
    case 'GET /latest/instance':
      return instance.shown(instance.now);
    case 'GET /latest/preemption':
      if (preemptionAt === undefined) throw cloudErrors.notFound('preemption announced');
      return { action: 'terminate', at: new Date(preemptionAt).toISOString() };
    case 'POST /latest/terminate':
      return cloud.terminate(instance.account, [instance.id]);
    default:
      throw cloudErrors.noSuchPath(asked);
  }
}
