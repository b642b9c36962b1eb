import { type Request, textAt } from './caller.ts';
import { googleError } from './errors.ts';
import { readFilter } from './filter.ts';
import { linkOf } from './names.ts';

/** A page of things, in their order, by a token that says where it begins. */
export function pageOf<T>(
  all: readonly T[],
  size: number,
  token: string | undefined,
): { readonly page: readonly T[]; readonly next?: string } {
  const start = token === undefined ? 0 : Number(Buffer.from(token, 'base64url').toString());
  if (!Number.isInteger(start) || start < 0)
    throw googleError('invalid', `Invalid value for field 'pageToken': '${token}'. The token is not valid.`);
  const page = all.slice(start, start + size);
  const more = start + size < all.length;
  return { page, ...(more && { next: Buffer.from(String(start + size)).toString('base64url') }) };
}

/** A list of Compute Engine: what fits the filter, a page at a time. */
export function listOf(
  { query }: Request,
  most: number,
  about: { readonly kind: string; readonly path: string },
  items: readonly object[],
): object {
  const fits = readFilter(textAt(query, 'filter'));
  const size = Math.min((query.get('maxResults') as number | undefined) || 500, 500, Math.max(most, 1));
  const { page, next } = pageOf(items.filter(fits), size, textAt(query, 'pageToken'));
  return {
    kind: `compute#${about.kind}`,
    id: about.path,
    ...(page.length > 0 && { items: page }),
    selfLink: linkOf(about.path),
    ...(next !== undefined && { nextPageToken: next }),
  };
}

/** The same over all zones or regions, each with its own part; `part` is what they call it. */
export function aggregatedOf(
  { query }: Request,
  most: number,
  about: { readonly kind: string; readonly path: string; readonly part: string },
  items: readonly { readonly scope: string; readonly item: object }[],
): object {
  const fits = readFilter(textAt(query, 'filter'));
  const size = Math.min((query.get('maxResults') as number | undefined) || 500, 500, Math.max(most, 1));
  const found = items.filter(({ item }) => fits(item));
  const { page, next } = pageOf(found, size, textAt(query, 'pageToken'));
  const byScope = Map.groupBy(page, ({ scope }) => scope);
  return {
    kind: `compute#${about.kind}`,
    id: about.path,
    items: Object.fromEntries(
      [...byScope].map(([scope, each]) => [scope, { [about.part]: each.map(({ item }) => item) }]),
    ),
    selfLink: linkOf(about.path),
    ...(next !== undefined && { nextPageToken: next }),
  };
}
