/** Signature Version 4 in the `Authorization` header, as a service checks it. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Who says to call, in which region, which service; nothing of it is proven yet. */
export interface Signed {
  readonly keyId: string;
  readonly date: string;
  readonly region: string;
  readonly service: string;
  readonly headers: readonly string[];
  readonly signature: string;
}

const form =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([\w-]+)\/([\w-]+)\/aws4_request,\s*SignedHeaders=([\w;-]+),\s*Signature=([0-9a-f]{64})$/;

/** Undefined where there is no signature of this kind. */
export function readSignature(request: IncomingMessage): Signed | undefined {
  const found = form.exec(request.headers.authorization ?? '');
  if (found === null) return undefined;
  const [, keyId, date, region, service, headers, signature] = found as unknown as readonly string[];
  return {
    keyId: keyId!,
    date: date!,
    region: region!,
    service: service!,
    headers: headers!.split(';'),
    signature: signature!,
  };
}

/** When the request says that it was signed, in milliseconds since 1970; NaN where it does not. */
export function signedAt(request: IncomingMessage): number {
  const found = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(request.headers['x-amz-date'] ?? ''));
  if (found === null) return Number.NaN;
  const [year, month, day, hour, minute, second] = found.slice(1).map(Number) as [number, number, ...number[]];
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Whether whoever signed knew the secret, and signed this request and no other. */
export function isSignedBy(signed: Signed, secret: string, request: IncomingMessage, body: string): boolean {
  if (!signed.headers.includes('host')) return false;
  const url = new URL(request.url ?? '/', 'http://aws');
  const query = [...url.searchParams]
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
    .sort()
    .join('&');
  const headers = signed.headers.map(
    (name) =>
      `${name}:${String(request.headers[name] ?? '')
        .replace(/\s+/g, ' ')
        .trim()}\n`,
  );
  const canonical = [
    request.method,
    url.pathname,
    query,
    headers.join(''),
    signed.headers.join(';'),
    sha256(body),
  ].join('\n');
  const scope = `${signed.date}/${signed.region}/${signed.service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', String(request.headers['x-amz-date']), scope, sha256(canonical)].join('\n');
  const key = ['aws4_request'].reduce(
    hmac,
    hmac(hmac(hmac(`AWS4${secret}`, signed.date), signed.region), signed.service),
  );
  return timingSafeEqual(Buffer.from(signed.signature, 'hex'), hmac(key, text));
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
