import { setTimeout as sleep } from 'node:timers/promises';
import { createJson } from '../../../base/files/json-file.ts';
import { identify } from '../../../base/process.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { processFile, readRecord } from '../../../providers/process/record.ts';
import { Agent } from './agent.ts';
import { Lease } from './lease.ts';

/** An agent that nobody could reach yet ends itself after this long. */
const bootLease = 600_000;

const wallClock: Clock = {
  now: () => Date.now(),
  sleep: (duration, signal) => sleep(duration, undefined, signal ? { signal } : {}),
};

/** `main.ts <engine folder> <instance folder>`: one node agent, as the process provider starts it. */
async function main(engineFolder: string, instanceFolder: string): Promise<void> {
  const record = readRecord(instanceFolder);
  const identity = identify(process.pid);
  if (!record || !identity || !createJson(processFile(instanceFolder), identity)) return;
  const { bootDelay, hang, vanishAfter, preemptAfter } = record.faults;
  const vanish = Math.min(vanishAfter ?? Infinity, preemptAfter ?? Infinity);
  if (vanish !== Infinity) setTimeout(() => process.kill(process.pid, 'SIGKILL'), vanish).unref();

  const ended = new AbortController();
  const end = (because: string): void => ended.abort(because);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end('its node was stopped'));
  process.on('SIGHUP', () => {});

  const boot = new Lease(bootLease, () => end('the lease of its node was not renewed'));
  const delay = hang ? 0x7fff_ffff : (bootDelay ?? 0);
  if (delay > 0) await sleep(delay, undefined, { signal: ended.signal }).catch(() => {});
  boot.end();
  if (ended.signal.aborted) return;
  const agent = new Agent({
    record,
    identity,
    instanceFolder,
    engineFolder,
    clock: wallClock,
    env: { ...process.env },
  });
  ended.signal.addEventListener('abort', () => void agent.end(String(ended.signal.reason)));
  await agent.listen();
}

const [engineFolder, instanceFolder] = process.argv.slice(2);
if (engineFolder && instanceFolder) await main(engineFolder, instanceFolder);
