import type { JobRow, WireJobState } from '../../api/types.ts';

/** Which jobs a list shows. Empty `states`: all of them. */
export interface JobFilter {
  readonly states: readonly WireJobState[];
  readonly search: string;
}

/** Says what the head's own filter says, so that a change of one job needs no request. */
export function matchesFilter(row: JobRow, filter: JobFilter): boolean {
  if (filter.states.length > 0 && !filter.states.includes(row.state)) return false;
  const wanted = filter.search.trim().toLowerCase();
  return wanted === '' || [row.id, row.entrypoint, row.user].some((text) => text.toLowerCase().includes(wanted));
}

/** Newest first; what came in the same millisecond stays in the order it has. */
export function byNewest(a: JobRow, b: JobRow): number {
  return b.submittedAt - a.submittedAt;
}

/** The loaded top of a list that may go on below. */
export interface JobWindow {
  readonly rows: readonly JobRow[];
  /** Of the whole list. */
  readonly total: number;
  /** Cursor of what follows; absent when everything is loaded. */
  readonly next?: string | undefined;
}

/**
 * The window after some jobs changed. Rows are replaced, put in at their place, or taken out when they no longer match.
 * `unsure` when a change below the window may have altered the total.
 */
export function applyChanges(
  window: JobWindow,
  changed: readonly JobRow[],
  filter: JobFilter,
): { readonly window: JobWindow; readonly unsure: boolean } {
  const byId = new Map(changed.map((row) => [row.id, row]));
  let { total } = window;
  let unsure = false;
  const rows = window.rows.flatMap((row) => {
    const now = byId.get(row.id);
    if (now === undefined) return [row];
    byId.delete(row.id);
    if (matchesFilter(now, filter)) return [now];
    total -= 1;
    return [];
  });
  const oldest = window.rows.at(-1);
  const fresh = [...byId.values()].filter((row) => {
    if (window.next !== undefined && oldest !== undefined && byNewest(row, oldest) > 0) {
      if (filter.states.length > 0) unsure = true;
      return false;
    }
    return matchesFilter(row, filter);
  });
  if (fresh.length > 0) {
    total += fresh.length;
    rows.unshift(...fresh.reverse());
    rows.sort(byNewest);
  }
  return { window: { rows, total, next: window.next }, unsure };
}

/** The window with its next page; what changed while the page was under way wins over it. */
export function addPage(window: JobWindow, page: JobWindow): JobWindow {
  const known = new Set(window.rows.map((row) => row.id));
  const rows = [...window.rows, ...page.rows.filter((row) => !known.has(row.id))];
  return { rows, total: Math.max(page.total, rows.length), next: page.next };
}
