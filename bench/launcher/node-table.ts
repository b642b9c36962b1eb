/**
 * Reads Ray's node table on the laptop of a lab, for whoever started the cluster: one line a change, when and how many
 * nodes are alive. `node node-table.ts ADDRESS PORT TOKEN-FILE`; the file is empty or absent where Ray has no token.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { listens } from '../../src/base/network/listens.ts';
import { Gcs } from '../../src/engines/ray/gcs/gcs.ts';

const [address = '', port = '', tokenFile = ''] = process.argv.slice(2);
const askEvery = 100;
const signal = new AbortController().signal;

let said = -1;
process.stdout.write('ready\n');
for (;;) {
  while (!(await listens(address, Number(port), 1_000))) await sleep(50);
  const token = existsSync(tokenFile) ? readFileSync(tokenFile, 'utf8').trim() : '';
  const gcs = new Gcs({ address: `${address}:${port}`, timeout: 3_000, ...(token !== '' && { token }) });
  try {
    for (;;) {
      const alive = (await gcs.nodeTable(signal)).filter((node) => node.alive).length;
      if (alive !== said) process.stdout.write(`${Date.now()} ${alive}\n`);
      said = alive;
      await sleep(askEvery);
    }
  } catch {
    // Not up yet, or its token is not known yet.
    await sleep(askEvery);
  } finally {
    gcs.close();
  }
}
