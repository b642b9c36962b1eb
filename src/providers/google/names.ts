import { createHash } from 'node:crypto';

/**
 * Names of instances and slices. They come from the launch's token, so that the same launch asks for the same names, and tell
 * the token again: of an insert that failed Google keeps nothing else.
 */

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

function base32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + alphabet[(held << (5 - bits)) & 31];
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const letter of text) {
    held = (held << 5) | alphabet.indexOf(letter);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 255);
    held &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}

const hashed = (text: string, length: number): string =>
  base32(createHash('sha256').update(text).digest()).slice(0, length);

const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;
/** What a name has room for. */
const mostBytes = 16;

/** The first letter says how the rest is to be read. */
function tokenPart(token: string): string {
  if (uuid.test(token)) return `u${base32(Buffer.from(token.replaceAll('-', ''), 'hex'))}`;
  const bytes = Buffer.from(token);
  return bytes.length <= mostBytes ? `t${base32(bytes)}` : `h${hashed(token, 26)}`;
}

function tokenOf(part: string): string | undefined {
  const rest = part.slice(1);
  if (part.startsWith('t')) return fromBase32(rest).toString();
  if (!part.startsWith('u')) return undefined;
  return fromBase32(rest)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** What all names of a cluster begin with; other clusters of its name have others. */
export function clusterPrefix(cluster: string, clusterId: string): string {
  const plain = cluster.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `ray-${plain.slice(0, 14).replaceAll(/^-|-$/g, '')}-${hashed(clusterId, 8)}-`.replaceAll('--', '-');
}

/** Projects of a domain are turned round in addresses: `example.com:name` is `name.example.com`. */
export const accountDomain = (project: string): string =>
  `${project.split(':').toReversed().join('.')}.iam.gserviceaccount.com`;

/** The service account that a cluster's head gets where there is no other, and the role that it has. */
export function ownAccount(
  project: string,
  cluster: string,
  clusterId: string,
): { readonly id: string; readonly email: string; readonly role: string } {
  const id = clusterPrefix(cluster, clusterId).replace(/-$/, '');
  const role = `projects/${project}/roles/${id.replaceAll('-', '_')}`;
  return { id, email: `${id}@${accountDomain(project)}`, role };
}

/** What all names of a launch begin with. */
export const launchPrefix = (cluster: string, clusterId: string, token: string): string =>
  `${clusterPrefix(cluster, clusterId)}${tokenPart(token)}-`;

/** The token of the launch that a name was made for. Undefined for other names, and where a name could not hold it. */
export function tokenOfName(cluster: string, clusterId: string, name: string): string | undefined {
  const prefix = clusterPrefix(cluster, clusterId);
  const [, part] = /^([a-z2-7]+)-\d+$/.exec(name.slice(prefix.length)) ?? [];
  return name.startsWith(prefix) && part !== undefined ? tokenOf(part) : undefined;
}

/** By which Google knows a request again: the same for the same words. */
export function requestIdOf(...words: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(words)).digest('hex');
  const variant = ((Number.parseInt(hash[16]!, 16) & 3) | 8).toString(16);
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
