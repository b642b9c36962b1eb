import { request } from 'node:http';

export interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly token: string;
  readonly signal: AbortSignal;
}

export interface LabCloudReply {
  readonly status: number;
  readonly text: string;
}

/**
 * One request and its whole answer. Rejects when no whole answer came; whether the request took effect is then not known.
 * Each has a connection of its own: one that the other side has just closed would look like a lost answer.
 */
export function exchange(endpoint: string, { method, path, body, token, signal }: Exchange): Promise<LabCloudReply> {
  const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const asking = request(new URL(path, endpoint), {
      method,
      agent: false,
      signal,
      headers: {
        authorization: `Bearer ${token}`,
        ...(content && { 'content-type': 'application/json', 'content-length': content.length }),
      },
    });
    asking.on('error', reject);
    asking.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    asking.end(content);
  });
}
