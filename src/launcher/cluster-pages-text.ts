import type { ListedCluster } from './cluster-pages.ts';

export const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
ul { list-style: none; padding: 0; }
li { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 8px; margin: 0.75rem 0; }
li a { display: flex; justify-content: space-between; gap: 1rem; padding: 0.75rem 1rem; color: inherit; text-decoration: none; }
li a:hover, li a:focus-visible { background: color-mix(in srgb, currentColor 8%, transparent); }
.where { opacity: 0.75; text-align: right; }
`;

/** The clusters of a user, each a link that opens it. */
export function listPage(clusters: readonly ListedCluster[]): string {
  const rows = clusters.map(
    ({ name, where }) =>
      `<li><a href="/open/${encodeURIComponent(name)}"><strong>${escaped(name)}</strong><span class="where">${escaped(where)}</span></a></li>`,
  );
  const body = rows.length === 0 ? '<p>No cluster is known on this machine.</p>' : `<ul>${rows.join('')}</ul>`;
  return page('Clusters', `<h1>Clusters</h1>${body}`);
}

export const signedInPage = (): string =>
  page('Manta', '<p><a href="/">All clusters</a></p>', '<meta http-equiv="refresh" content="0;url=/">');

export function problemPage(problem: string, next: string): string {
  return page('Manta', `<h1>${escaped(problem)}</h1><p>${escaped(next)}</p><p><a href="/">All clusters</a></p>`);
}

const page = (title: string, body: string, more = ''): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8">${more}<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · Manta</title><link rel="stylesheet" href="/style.css"><main>${body}</main></html>`;

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
