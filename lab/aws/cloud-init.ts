import { gunzipSync } from 'node:zlib';
import { shellQuoted } from '../../src/base/shell/shell-quote.ts';

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
  const folder = '/var/lib/cloud/instance/scripts';
  const lines = partsOf(text).map(({ type, text: content }, index) => {
    if (type !== 'text/x-shellscript')
      return `echo ${shellQuoted(`cloud-init: part ${index + 1} is ${type}: left out`)}`;
    const file = `${folder}/part-${String(index + 1).padStart(3, '0')}`;
    const data = Buffer.from(content).toString('base64');
    return `echo ${data} | base64 -d > ${file}; chmod 700 ${file}; ${file}; echo "cloud-init: part ${index + 1} ended with $?"`;
  });
  return lines.length === 0 ? undefined : [`mkdir -p ${folder}`, ...lines].join('\n');
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
