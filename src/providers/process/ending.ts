import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder, namesIn } from '../../base/files/json-file.ts';
import type { ProcessIdentity } from '../../base/process.ts';
import { endProcesses, findMarked, isAlive, sendSignal } from '../../base/process.ts';
import type { Duration } from '../../base/time/clock.ts';
import { processErrors } from './errors.ts';
import { readProcess } from './record.ts';

const keptFolders = 100;

/**
 * Ends one instance for good: its agent is told and given `grace` to end its work, then killed; whatever still carries
 * its mark is ended too; its folder moves to `.ended/` only when nothing of it runs. Throws when something would not end.
 */
export async function endInstance(instances: string, id: string, grace: Duration): Promise<void> {
  const folder = join(instances, id);
  await endAgent(id, readProcess(folder), grace);
  await endWork(id);
  const ended = join(makeFolder(join(instances, '.ended')), id);
  rmSync(ended, { recursive: true, force: true });
  renameSync(folder, ended);
  // An agent that was only just starting may have signed in between the first look and the move.
  await endAgent(id, readProcess(ended), 0);
  await endWork(id);
  dropOldest(join(instances, '.ended'));
}

async function endAgent(instance: string, agent: ProcessIdentity | undefined, grace: Duration): Promise<void> {
  if (!agent) return;
  const begin = performance.now();
  if (isAlive(agent)) sendSignal(agent.pid, grace > 0 ? 'SIGTERM' : 'SIGKILL');
  for (let pause = 5; isAlive(agent); pause = Math.min(pause * 2, 50)) {
    if (performance.now() - begin >= grace) sendSignal(agent.pid, 'SIGKILL');
    if (performance.now() - begin >= grace + 15_000) throw processErrors.NotEnded({ instance, pids: [agent.pid] });
    await sleep(pause);
  }
}

async function endWork(instance: string): Promise<void> {
  const left = await endProcesses(() => findMarked(instance), 0);
  if (left.length > 0) throw processErrors.NotEnded({ instance, pids: left });
}

function dropOldest(folder: string): void {
  const names = namesIn(folder);
  if (names.length <= keptFolders) return;
  const byAge = names.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs })).sort((a, b) => a.at - b.at);
  for (const { name } of byAge.slice(0, names.length - keptFolders))
    rmSync(join(folder, name), { recursive: true, force: true });
}
