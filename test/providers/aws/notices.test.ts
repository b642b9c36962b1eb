// needs: botocore

/** What only an instance is told: that it had better leave. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { InstanceMetadata } from '../../../lab/aws/imds.ts';
import type { Aws } from '../../../lab/aws/open.ts';
import { SpotNotices } from '../../../src/providers/aws/list/notices.ts';
import { never, until } from '../../contract/waiting.ts';
import { ask, providerOf, standInAws } from './aws-bed.ts';

const run = promisify(execFile);

/** Where the instance learns about itself. */
async function metadataOf(t: TestContext, aws: Aws, id: string): Promise<string> {
  const metadata = new InstanceMetadata(aws.world, () => 3600);
  const server = createServer(({ method = '', url = '', headers }, response) => {
    try {
      response.end(metadata.answer(method, url, headers, aws.cloud.instance(id)!));
    } catch (error) {
      response.writeHead((error as { status: number }).status).end();
    }
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/latest`;
}

test('a spot instance that is told to leave says so, and the list shows when it ends', async (t) => {
  const aws = await standInAws(t);
  const provider = providerOf(aws);
  const [made] = await provider.launch(ask('spot', { market: 'spot' }), never);
  await until('it runs', async () => (await provider.list(never))[0]?.state === 'running');
  const imds = await metadataOf(t, aws, made!.id);
  const program = provider.notices.program.replace('http://169.254.169.254/latest', imds);
  const told = async (): Promise<readonly string[]> => {
    const { stdout } = await run('/bin/sh', ['-c', program]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    for (const line of lines) provider.notices.heard(made!.id, line.replace(/^notice /, ''));
    return lines;
  };
  const end = async () => (await provider.list(never))[0]?.preemptionAt;
  assert.deepEqual([await told(), await end()], [[], undefined]);
  await aws.admin.rebalance(made!.id);
  assert.equal(await end(), undefined, 'no list tells it');
  assert.match((await told()).join(), /^notice events\/recommendations\/rebalance \{"noticeTime": ?"/);
  const leaves = await end();
  assert.ok(leaves !== undefined && Math.abs(leaves - Date.now() - 30 * 60_000) < 60_000);
  await aws.admin.preempt(made!.id, 120);
  assert.match((await told()).join(), /notice spot\/instance-action/);
  assert.ok((await end())! < Date.now() + 121_000, 'the interruption counts, which is earlier');
});

test('where nobody answers the program says nothing, and what cannot be read is ignored', async () => {
  const notices = new SpotNotices('http://127.0.0.1:9/latest');
  assert.equal((await run('/bin/sh', ['-c', notices.program])).stdout, '');
  for (const said of [
    '',
    'spot/instance-action',
    'spot/instance-action <html>',
    'spot/instance-action {"time":"soon"}',
  ])
    notices.heard('i-1', said);
  notices.heard('i-1', 'something/else {"time":"2026-01-01T00:00:00Z"}');
  assert.equal(notices.endOf('i-1', undefined), undefined);
  notices.heard('i-1', 'spot/instance-action {"action":"terminate","time":"2026-01-01T00:00:00Z"}');
  assert.equal(notices.endOf('i-1', undefined), Date.parse('2026-01-01T00:00:00Z'));
  assert.equal(notices.endOf('i-1', 5), 5);
  notices.keep(new Set());
  assert.equal(notices.endOf('i-1', undefined), undefined);
});
