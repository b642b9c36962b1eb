import { providerErrors } from '../../errors.ts';
import type { GoogleCalls } from './calls.ts';

const mostPages = 10_000;

/** What Google answers to any list; who asks knows what else it has. */
type Page = Readonly<Record<string, unknown>> & { readonly nextPageToken?: string };

/** Every page, or an error: a part of a list would make instances look gone. */
export async function allPages<Item>(
  { google }: GoogleCalls,
  call: string,
  url: string,
  query: Readonly<Record<string, string | number | undefined>>,
  itemsOf: (page: Page) => readonly Item[],
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const answer = await google.ask<Page | undefined>(
      { call },
      { method: 'GET', url, query: { ...query, pageToken } },
      signal,
    );
    if (typeof answer !== 'object') throw providerErrors.Unreachable({ call, detail: 'the response has no list' });
    found.push(...itemsOf(answer));
    if (!answer.nextPageToken) return found;
    pageToken = answer.nextPageToken;
  }
  throw providerErrors.Unreachable({ call, detail: `the list has more than ${mostPages} pages` });
}

interface Aggregated {
  readonly items?: Readonly<Record<string, Scope>>;
  readonly unreachables?: readonly string[];
}

type Scope = Readonly<Record<string, unknown>> & { readonly warning?: { readonly code?: string } };

/** What all zones and regions have of something. Throws where one of them could not be asked. */
export function allZones<Item>(
  calls: GoogleCalls,
  call: string,
  url: string,
  { part, filter }: { readonly part: string; readonly filter: string },
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const itemsOf = (page: object): readonly Item[] => {
    const { items = {}, unreachables = [] }: Aggregated = page;
    const missing = [
      ...unreachables,
      ...Object.entries(items).flatMap(([scope, { warning }]) => (warning?.code === 'UNREACHABLE' ? [scope] : [])),
    ];
    if (missing.length > 0)
      throw providerErrors.Unreachable({ call, detail: `${missing[0]} cannot be reached: the list is not complete` });
    return Object.values(items).flatMap((scope) => (scope[part] as readonly Item[] | undefined) ?? []);
  };
  return allPages(calls, call, url, { filter, maxResults: 500 }, itemsOf, signal);
}
