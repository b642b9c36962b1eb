import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../base/files/json-file.ts';
import { escaped } from './cluster-pages-text.ts';

/**
 * A file of this user's alone that leads a browser to a link. Arguments of programs can be read by everybody on a machine,
 * and a link that signs somebody in is a secret. There is one at a time; each link in it works once.
 */
export function writeLinkPage(home: string, link: string): string {
  makeFolder(home);
  const file = join(home, 'open.html');
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true });
  const refresh = `<meta http-equiv="refresh" content="0;url=${escaped(link)}"><a href="${escaped(link)}">Manta</a>`;
  writeFileSync(draft, `<!doctype html><meta charset="utf-8"><title>Manta</title>${refresh}\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  renameSync(draft, file);
  return file;
}
