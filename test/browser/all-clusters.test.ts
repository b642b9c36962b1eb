// needs: cluster, chromium

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildWeb } from '../../scripts/build-web.ts';
import { clusterHost, listHost } from '../../src/client/cluster-host.ts';
import { writeLinkPage } from '../../src/launcher/dashboard/browser-link.ts';
import { createCluster, type LaptopRecord, type RemoteHead } from '../../src/state/cluster-record.ts';
import { stateFolder, stateHome } from '../../src/state/state-folder.ts';
import { freePort, TestHome } from '../head/test-cluster.ts';
import { openBrowser, picture, watchComplaints } from './browser.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('all clusters of a user are on one page, and each opens signed in under its own name', async (t) => {
  if (!existsSync(`${root}/dist/web/index.html`)) await buildWeb();
  const home = new TestHome(t);
  for (const name of ['blue', 'green_2']) {
    const { code, err } = await home.run('up', '-n', name, '--yes', '--port', String(await freePort()));
    assert.equal(code, 0, err);
  }
  const record = (name: string, remote: RemoteHead, more: Partial<LaptopRecord>): void => {
    const folder = stateFolder(stateHome(home.env), name);
    createCluster(folder, { role: 'laptop', createdAt: Date.now(), engine: 'ray', ...more, remote });
  };
  const hour = 3_600_000;
  record('trainers', { address: '10.0.0.5' }, { until: Date.now() + 5 * hour });
  const why = 'nothing ran or waited for 30m (idle_shutdown)';
  record('yesterday', { instance: 'i-1' }, { ended: { at: Date.now() - 20 * hour, why, left: [] } });
  const port = await freePort();
  const words = [`${root}/bin/manta`, 'dashboard', '--no-open', '--port', String(port)];
  const holder = spawn(process.execPath, words, {
    env: home.env,
    cwd: home.path,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => holder.kill('SIGKILL'));
  const link = await new Promise<string>((resolve) => createInterface({ input: holder.stdout }).once('line', resolve));
  assert.match(link, new RegExp(`^http://${listHost}:${port}/\\?key=`));

  const browser = await openBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext();
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints = watchComplaints(page);
  // As a browser is opened: by a file that leads there.
  await page.goto(`file://${writeLinkPage(home.path, link)}`);
  await page.getByRole('heading', { name: 'Clusters' }).waitFor();
  await page
    .getByText(/nodes: \d+.*jobs: 0 running/)
    .first()
    .waitFor();
  await page.getByText(`ago): ${why}`).waitFor();
  await page.getByText(/^shuts down .*\(in /).waitFor();
  assert.equal(await page.getByRole('link', { name: 'yesterday' }).count(), 0, 'there is nothing to open');
  await picture(page, 'all-clusters');
  for (const name of ['blue', 'green_2']) {
    await page.goto(`http://${listHost}:${port}/`);
    await page.getByRole('link', { name }).click();
    await page.getByText('Live', { exact: true }).first().waitFor();
    assert.equal(new URL(page.url()).host, `${clusterHost(name)}:${port}`);
    assert.ok((await page.title()).includes(name));
  }
  const cookies = await context.cookies();
  assert.deepEqual(
    cookies.map(({ domain, name }) => `${domain} ${name}`).sort(),
    [
      `${clusterHost('blue')} manta-blue`,
      `${clusterHost('green_2')} manta-green_2`,
      `${listHost} manta-clusters`,
    ].sort(),
  );
  assert.deepEqual(complaints, []);

  holder.kill('SIGINT');
  const code = await new Promise((resolve) => holder.once('exit', resolve));
  assert.ok(code === 0 || code === 130, String(code));
});
