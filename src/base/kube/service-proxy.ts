import type { IncomingMessage } from 'node:http';
import type { KubeCall, KubeClient } from './client.ts';

export interface ServiceRequest extends Pick<KubeCall, 'method' | 'body' | 'contentType' | 'headers' | 'query'> {
  readonly namespace: string;
  readonly service: string;
  /** A number, or the name of a port of the service. */
  readonly port: number | string;
  /** As the program behind the service knows it. */
  readonly path: string;
  /** What it does, for messages. */
  readonly call: string;
  readonly signal: AbortSignal;
}

/** Asks a program behind a service, through the API server: no tunnel, and whichever pod it is now answers. */
export function askService(client: KubeClient, request: ServiceRequest): Promise<IncomingMessage> {
  const { namespace, service, port, path, ...call } = request;
  const name = `${encodeURIComponent(service)}:${encodeURIComponent(port)}`;
  return client.stream({
    ...call,
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${name}/proxy${path}`,
  });
}
