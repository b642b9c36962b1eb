import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedEngine } from '../../../src/engines/embedded/engine.ts';

/** `head-process.ts <folder> <count>`: a head that hands attempts over one after the other, to be killed at any moment. */
const [folder = '', count = '0', prefix = 'p'] = process.argv.slice(2);
const clock = { now: () => Date.now(), sleep: async () => {} };
const engine = await EmbeddedEngine.open({ folder, clock });
for (let index = 0; index < Number(count); index++) {
  const id = `${prefix}${index}.1`;
  // Journalled before the engine is asked, as the jobs layer does.
  appendFileSync(join(folder, 'journal'), `${id}\n`);
  const entrypoint = `echo "$ID" >> ${folder}/ran; echo "output of $ID"`;
  const log = join(folder, 'logs', id);
  const plain = { id, job: id, number: 1, own: {}, metadata: {}, environment: {}, setup: [], labels: {} };
  const order = { ...plain, entrypoint, env: { ID: id }, resources: { CPU: 1 }, log };
  await engine.start(order, new AbortController().signal);
  await sleep(2);
}
await sleep(1_000_000);
