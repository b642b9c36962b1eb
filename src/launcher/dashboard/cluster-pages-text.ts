import { durationWords } from '../../core/duration.ts';
import type { ClusterState, ListedCluster } from './cluster-list.ts';

export const style = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { max-width: 46rem; margin: 2.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.35rem; }
ul { list-style: none; padding: 0; }
li { border: 1px solid var(--line); border-radius: 8px; margin: 0.75rem 0; overflow-wrap: anywhere; }
li > a, li > div { display: grid; grid-template-columns: 1fr auto; gap: 0.1rem 1rem; padding: 0.75rem 1rem; color: inherit; text-decoration: none; }
li > a:hover, li > a:focus-visible { background: color-mix(in srgb, currentColor 7%, transparent); }
.over { opacity: 0.75; }
.state { font-size: 0.85rem; white-space: nowrap; }
.state::before { content: ''; display: inline-block; width: 0.55rem; height: 0.55rem; border-radius: 50%; margin-right: 0.4rem; background: var(--mark, #888); }
.running { --mark: #1a9c4b; }
.silent { --mark: #c8371f; }
.ending { --mark: #c98a00; }
.more { grid-column: 1 / -1; font-size: 0.87rem; opacity: 0.8; }
`;

/** The page reloads itself: the states of the clusters arrive while it is open. */
const lookAgain = '<meta http-equiv="refresh" content="10">';

/** The clusters of a user: how each is, and a link that opens it where there is something to open. */
export function listPage(clusters: readonly ListedCluster[], now: number): string {
  const body =
    clusters.length === 0
      ? '<p>There are no clusters on this machine.</p>'
      : `<ul>${clusters.map((cluster) => row(cluster, now)).join('')}</ul>`;
  return page('Clusters', `<h1>Clusters</h1>${body}`, lookAgain);
}

const marks: Readonly<Record<ClusterState, string>> = {
  running: 'running',
  'not asked': '',
  silent: 'silent',
  'shutting down': 'ending',
  down: '',
  ended: '',
};

function row(cluster: ListedCluster, now: number): string {
  const { name, kind, where, state } = cluster;
  const more = [[kind, ...(where === undefined ? [] : [`head at ${where}`])].join(', '), ...linesOf(cluster, now)];
  const inside = `<strong>${escaped(name)}</strong><span class="state ${marks[state]}">${escaped(state)}</span>${more
    .map((line) => `<span class="more">${escaped(line)}</span>`)
    .join('')}`;
  return state === 'ended' || state === 'down'
    ? `<li class="over"><div>${inside}</div></li>`
    : `<li><a href="/open/${encodeURIComponent(name)}">${inside}</a></li>`;
}

function linesOf({ now: said, state, silence, ended, until, ending }: ListedCluster, now: number): string[] {
  const lines: string[] = [];
  if (said !== undefined) {
    const { nodes, jobs } = said;
    const pending = nodes.pending > 0 ? `, ${nodes.pending} starting` : '';
    lines.push(`nodes: ${nodes.running}${pending}; jobs: ${jobs.running} running, ${jobs.queued} queued`);
  }
  if (silence !== undefined) lines.push(`not responding: ${silence}`);
  if (state === 'not asked') lines.push('open it to see its state');
  if (state === 'down') lines.push("start it with 'manta up'");
  if (ended !== undefined)
    lines.push(`shut down ${timeOf(ended.at)} (${durationWords(now - ended.at)} ago): ${ended.why}`);
  else if (until !== undefined)
    lines.push(`shuts down ${timeOf(until)}${until > now ? ` (in ${durationWords(until - now)})` : ''}`);
  else if (ending !== undefined) lines.push(`it ${ending}`);
  return lines;
}

/** By the clock of this machine, which is the browser's too. */
function timeOf(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 16)}`;
}

export const signedInPage = (): string =>
  page('Manta', '<p><a href="/">All clusters</a></p>', '<meta http-equiv="refresh" content="0;url=/">');

export function problemPage(problem: string, next: string): string {
  return page('Manta', `<h1>${escaped(problem)}</h1><p>${escaped(next)}</p><p><a href="/">All clusters</a></p>`);
}

const page = (title: string, body: string, more = ''): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8">${more}<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · Manta</title><link rel="stylesheet" href="/style.css"><main>${body}</main></html>`;

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
