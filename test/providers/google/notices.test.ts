// needs: openssl, google-discovery

/** What only a machine is told: that it is going to end. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Google } from '../../../lab/google/open.ts';
import type { Clock } from '../../../src/base/time/clock.ts';
import { metadataUrl } from '../../../src/providers/google/client/links.ts';
import { GoogleNotices } from '../../../src/providers/google/list/notices.ts';
import { never, until } from '../../contract/waiting.ts';
import { ask, providerOf, standInGoogle } from './google-bed.ts';

const run = promisify(execFile);
const noon: Clock = { now: () => 1_000_000, sleep: async () => {} };

/** Where the machine learns about itself. */
async function metadataOf(t: TestContext, google: Google, id: string): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    response.end(google.metadata.read(google.cloud.instance(id)!, new URL(url, 'http://metadata')));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/computeMetadata/v1`;
}

test('a machine that is told of its end says so, and the list shows when that is', async (t) => {
  const google = await standInGoogle(t);
  const provider = providerOf(google);
  const [made] = await provider.launch(ask('spot', { market: 'spot' }), never);
  await until('it runs', async () => (await provider.list(never))[0]?.state === 'running');
  const id = google.idOf(made!.id.split('/')[1]!);
  const program = provider.notices.program.replace(metadataUrl, await metadataOf(t, google, id));
  const told = async (): Promise<string> => {
    const { stdout } = await run('/bin/sh', ['-c', program]);
    for (const [, said = ''] of stdout.matchAll(/^notice (.*)$/gm)) provider.notices.heard(made!.id, said);
    return stdout;
  };
  const end = async () => (await provider.list(never))[0]?.preemptionAt;
  assert.deepEqual([await told(), await end()], ['', undefined]);
  await google.admin.rebalance(id);
  assert.equal(await told(), 'notice maintenance-event TERMINATE_ON_HOST_MAINTENANCE\n');
  const maintained = await end();
  assert.ok(maintained !== undefined);
  await google.admin.preempt(id, 600);
  assert.match(await told(), /^notice preempted TRUE$/m);
  assert.notEqual(await end(), undefined);
});

test('a machine with accelerators has an hour until its maintenance, others a minute; one that is moved stays', () => {
  const notices = new GoogleNotices(noon);
  for (const said of ['', 'preempted', 'preempted FALSE', 'maintenance-event MIGRATE_ON_HOST_MAINTENANCE', 'else TRUE'])
    notices.heard('a', said);
  assert.equal(notices.endOf('a', false), undefined);
  notices.heard('a', 'maintenance-event TERMINATE_ON_HOST_MAINTENANCE');
  assert.deepEqual([notices.endOf('a', false), notices.endOf('a', true)], [1_060_000, 4_600_000]);
  notices.heard('a', 'preempted TRUE');
  assert.equal(notices.endOf('a', true), 1_030_000, 'the preemption counts');
  notices.keep(new Set());
  assert.equal(notices.endOf('a', false), undefined);
});

test('where nobody answers the program says nothing', async () => {
  const program = new GoogleNotices(noon).program.replace(metadataUrl, 'http://127.0.0.1:9');
  assert.equal((await run('/bin/sh', ['-c', program])).stdout, '');
});
