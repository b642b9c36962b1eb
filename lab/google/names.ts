import { createHash } from 'node:crypto';

/** A number that a name always gives, as long as those of Google. */
export const numberOf = (name: string): string =>
  (BigInt(`0x${createHash('sha256').update(name).digest('hex').slice(0, 15)}`) + 10n ** 18n).toString();

/** Changes with what it is about. */
export const fingerprintOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest().subarray(0, 8).toString('base64');

/** The last part of a link, whether it is whole, partial or a name alone. */
export const lastOf = (link: string): string => link.slice(link.lastIndexOf('/') + 1);

/** What a whole or partial link names after the version: `projects/p/zones/z/…`. */
export const partial = (link: string): string => link.replace(/^(?:https?:\/\/[^/]+\/compute\/(?:v1|beta)\/)/, '');

export const linkOf = (path: string): string => `https://www.googleapis.com/compute/v1/${path}`;

export const regionOfZone = (zone: string): string => zone.replace(/-[a-z]$/, '');

export const time = (at: number): string => new Date(at).toISOString();

const label = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;

/** What is wrong with labels, if anything is. */
export function labelProblem(labels: Readonly<Record<string, string>>): string | undefined {
  if (Object.keys(labels).length > 64) return `there are ${Object.keys(labels).length} labels, and 64 are allowed`;
  for (const [key, value] of Object.entries(labels)) {
    if (!label.test(key) || !/^[\p{Ll}\p{Lo}]/u.test(key)) return `'${key}' is not a valid label key`;
    if (!label.test(value)) return `'${value}' is not a valid value of the label '${key}'`;
  }
  return undefined;
}
