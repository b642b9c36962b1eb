import { gunzipSync } from 'node:zlib';
import { readShell } from '../../src/base/shell/shell-file.ts';
import { shellQuoted } from '../../src/base/shell/shell-quote.ts';

const cloudInit = readShell(new URL('./cloud-init.sh', import.meta.url));

interface Part {
  readonly type: string;
  readonly text: string;
}

/**
 * What cloud-init makes of user data, as a program for the first boot: scripts run one after the other as root, each by the
 * interpreter that its first line names; other kinds are noted on the console and left out.
 */
export function userDataProgram(base64: string | undefined): string | undefined {
  if (base64 === undefined || base64 === '') return undefined;
  const raw = Buffer.from(base64, 'base64');
  const text = (raw[0] === 0x1f && raw[1] === 0x8b ? gunzipSync(raw) : raw).toString();
  const calls = partsOf(text).map(({ type, text: content }, index) =>
    type === 'text/x-shellscript'
      ? `script_part ${index + 1} ${Buffer.from(content).toString('base64')}\n`
      : `other_part ${index + 1} ${shellQuoted(type)}\n`,
  );
  return calls.length === 0 ? undefined : `${cloudInit}${calls.join('')}`;
}

const kinds: readonly (readonly [string, string])[] = [
  ['#!', 'text/x-shellscript'],
  ['#cloud-config', 'text/cloud-config'],
  ['#cloud-boothook', 'text/cloud-boothook'],
  ['#include', 'text/x-include-url'],
];

/** The parts of a MIME message, or the whole as one. What it is stands in its first line, whatever its header says. */
function partsOf(text: string): readonly Part[] {
  const { headers, body } = splitHeaders(text);
  const kind = headers.get('content-type') ?? '';
  const boundary = /boundary="?([^";]+)"?/i.exec(kind)?.[1];
  if (/^multipart\//i.test(kind) && boundary !== undefined)
    return body
      .split(`--${boundary}`)
      .slice(1)
      .filter((part) => !part.startsWith('--'))
      .flatMap((part) => partsOf(part.replace(/^\r?\n/, '')));
  const content = kind === '' ? text : decoded(body, headers.get('content-transfer-encoding') ?? '');
  const said = kinds.find(([start]) => content.startsWith(start))?.[1];
  return [{ type: said ?? (/^[\w/-]+/.exec(kind)?.[0].toLowerCase() || 'not known'), text: content }];
}

function splitHeaders(text: string): { readonly headers: ReadonlyMap<string, string>; readonly body: string } {
  const end = /\r?\n\r?\n/.exec(text);
  const head = end === null ? text : text.slice(0, end.index);
  if (!/^[A-Za-z][\w-]*:/.test(head)) return { headers: new Map(), body: text };
  const lines = head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { headers: new Map(headers), body: end === null ? '' : text.slice(end.index + end[0].length) };
}

function decoded(body: string, encoding: string): string {
  if (/^base64$/i.test(encoding)) return Buffer.from(body, 'base64').toString();
  return body.replace(/\r?\n$/, '\n');
}
