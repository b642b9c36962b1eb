import type { ServerResponse } from 'node:http';

export function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=UTF-8',
    'content-length': Buffer.byteLength(text),
    server: 'ESF',
  });
  response.end(text);
}
