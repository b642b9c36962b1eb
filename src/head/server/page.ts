import { existsSync, readFileSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownValue } from '../../base/own-value.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** No script but our own, nothing from elsewhere, nobody may frame it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export interface PageFile {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Where the built page is: beside the bundle, or where a checkout builds it. */
function pageFolder(): string {
  const here = import.meta.url;
  const from = here.endsWith('.ts') ? '../../../dist/web/' : here.includes('/chunks/') ? '../web/' : './web/';
  return fileURLToPath(new URL(from, here));
}

export const isPagePath = (path: string): boolean =>
  path === '/' || path === '/index.html' || path === '/favicon.ico' || path.startsWith('/assets/');

/** A file of the page; undefined when there is none of that name. */
export function readPage(path: string, folder: string = pageFolder()): PageFile | undefined {
  const name = path === '/' ? 'index.html' : normalize(path).replace(/^[/\\]+/, '');
  const file = join(folder, name);
  const type = ownValue(types, extname(name));
  if (!file.startsWith(folder) || type === undefined) return undefined;
  if (!existsSync(file)) return name === 'index.html' ? notBuilt : undefined;
  return {
    body: readFileSync(file),
    headers: {
      'content-type': type,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-store',
    },
  };
}

const notBuilt: PageFile = {
  body: Buffer.from(
    '<!doctype html><title>Manta</title><p>The page of this checkout is not built yet: run <code>npm run build</code>.',
  ),
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-store',
  },
};
