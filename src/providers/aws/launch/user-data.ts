import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { readShell, shellProgram } from '../../../base/shell/shell-file.ts';
import type { CloudClient } from '../../clouds.ts';

const authorizeKey = readShell(new URL('./authorize-key.sh', import.meta.url));

/** What EC2 takes, before it is encoded. */
const mostBytes = 16_384;

/** Which kind cloud-init takes a text for, by its first words, the longest first. */
const kinds: readonly (readonly [string, string])[] = [
  ['#!', 'text/x-shellscript'],
  ['#cloud-config-archive', 'text/cloud-config-archive'],
  ['#cloud-config-jsonp', 'text/cloud-config-jsonp'],
  ['#cloud-config', 'text/cloud-config'],
  ['#cloud-boothook', 'text/cloud-boothook'],
  ['#include-once', 'text/x-include-once-url'],
  ['#include', 'text/x-include-url'],
  ['#part-handler', 'text/part-handler'],
  ['## template: jinja', 'text/jinja2'],
];

/**
 * What an instance runs at its first boot, as RunInstances takes it: what the file or its template says, then what adds
 * the cluster's key, then the cluster's own program. The same for the same input, for it is part of what a token stands for.
 */
export function userData(
  given: string | undefined,
  login: ReturnType<CloudClient['login']>,
  bootProgram: string | undefined,
): string {
  const programs = [
    shellProgram(authorizeKey, { login_user: login.user, login_key: login.publicKey }),
    ...(bootProgram === undefined ? [] : [bootProgram]),
  ].map((program) => (program.startsWith('#!') ? program : `#!/bin/sh\n${program}`));
  const parts = [...(given === undefined || given.trim() === '' ? [] : [given]), ...programs].map(partOf);
  const boundary = `manta-${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16)}`;
  const message = [
    `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="${boundary}"\n`,
    ...parts.map((part) => `--${boundary}\n${part}`),
    `--${boundary}--\n`,
  ].join('\n');
  const bytes = Buffer.from(message);
  return (bytes.length > mostBytes ? gzipSync(bytes, { level: 9 }) : bytes).toString('base64');
}

/** A message with parts of its own is a part with those parts. */
function partOf(text: string): string {
  if (/^(?:MIME-Version|Content-Type):/i.test(text)) return text;
  const kind = kinds.find(([start]) => text.startsWith(start))?.[1] ?? 'text/plain';
  const plain = /^[\t\n\r -~]*$/.test(text);
  const body = plain ? text : `${Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\n')}\n`;
  const encoding = plain ? '7bit' : 'base64';
  return `Content-Type: ${kind}; charset="utf-8"\nContent-Transfer-Encoding: ${encoding}\n\n${body}`;
}
