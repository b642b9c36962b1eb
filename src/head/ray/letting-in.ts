/**
 * While `up` puts the cluster's key on the hosts, mantad is at work already. Hosts that have no key yet stand in a file in
 * the cluster's folder on the head: mantad waits for those, where it would be turned away and give them a rest.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { shellQuoted } from '../../base/shell-quote.ts';
import { headHome } from '../state-folder.ts';

const name = 'letting-in';

/** Whoever writes it may die: a file that has not changed for so long means nothing any more. */
const countsFor = 60_000;

/** Whether the host is still to get its key. */
export function isLettingIn(folder: string, host: string, now: number): boolean {
  try {
    const file = join(folder, name);
    return now - statSync(file).mtimeMs < countsFor && readFileSync(file, 'utf8').split('\n').includes(host);
  } catch {
    return false;
  }
}

/** Sh program for the head: these hosts of the cluster are still to get their key. */
export function lettingInText(cluster: string, hosts: readonly string[]): string {
  const file = `${headHome}/clusters/${cluster}/${name}`;
  if (hosts.length === 0) return `rm -f "$HOME"/${file}`;
  const lines = shellQuoted(hosts.map((host) => `${host}\n`).join(''));
  return `umask 077; cd "$HOME" && mkdir -p ${headHome}/clusters/${cluster} && printf %s ${lines} >${file}.new && mv ${file}.new ${file}`;
}
