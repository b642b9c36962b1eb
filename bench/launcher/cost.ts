/** What hosts of a lab have spent, seen from outside them. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabHost } from '../../lab/lab.ts';

/**
 * Processor milliseconds of a host so far: of what runs, and of what has ended and was waited for by what runs, which on a
 * host ends with its first process.
 */
export const spentOn = (host: LabHost): number =>
  host.processes().reduce((sum, { pid }) => sum + ticksOf(pid, 11), 0) * 10;

/** Of the commands that were run on hosts from here and have ended: they are children of this process. */
export const spentByCommands = (): number => ticksOf(process.pid, 13) * 10;

/** Fields 11 and 12 after the name are the time of the process itself, 13 and 14 that of its ended children. */
function ticksOf(pid: number, from: 11 | 13): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields.slice(from, 15).reduce((sum, field) => sum + Number(field), 0);
  } catch {
    return 0;
  }
}

/** Mebibytes of the processes whose command line matches, shared pages by their share. */
export function memoryOf(host: LabHost, pattern = /./): number {
  const found = host.processes().filter(({ command }) => pattern.test(command.join(' ')));
  return found.reduce((sum, { pid }) => sum + proportional(pid), 0) / 1024;
}

function proportional(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Processor milliseconds that this whole machine has been busy. */
export function spentByMachine(): number {
  const fields = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]!.trim().split(/\s+/).slice(1).map(Number);
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0] = fields;
  return (user + nice + system + interrupts + soft) * 10;
}

const looksFor = 2_000;

/** Waits for a moment in which half of the machine is free, but not for ever. */
export async function quiet(within: number): Promise<void> {
  for (const until = performance.now() + within; performance.now() < until; ) {
    const [before, began] = [spentByMachine(), performance.now()];
    await sleep(looksFor);
    const busy = (spentByMachine() - before) / (performance.now() - began);
    if (busy <= availableParallelism() / 2) return;
  }
}
