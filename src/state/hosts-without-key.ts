/**
 * While `up` puts the cluster's key on the hosts, mantad is at work already. Hosts that have no key yet stand in a file in
 * the cluster's folder on the head: mantad waits for those, where it would be turned away and give them a rest.
 */
import { readFileSync, statSync } from 'node:fs';
import { readShell, shellProgram } from '../base/shell/shell-file.ts';
import { folderOnHead, type StateFolder } from './state-folder.ts';

const program = readShell(new URL('./write-hosts.sh', import.meta.url));

/** Its writer may die: a file that has not changed for so long means nothing any more. */
const countsFor = 60_000;

/** Whether the host is still to get its key. */
export function awaitsKey({ files }: StateFolder, host: string, now: number): boolean {
  try {
    const file = files.hostsWithoutKey;
    return now - statSync(file).mtimeMs < countsFor && readFileSync(file, 'utf8').split('\n').includes(host);
  } catch {
    return false;
  }
}

/** Sh program for the head: these hosts of the cluster are still to get their key. */
export const hostsWithoutKeyText = (cluster: string, hosts: readonly string[]): string =>
  shellProgram(program, {
    file: folderOnHead(cluster).files.hostsWithoutKey,
    hosts: hosts.map((host) => `${host}\n`).join(''),
  });
