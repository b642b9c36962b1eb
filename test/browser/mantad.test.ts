// needs: chromium

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { buildWeb } from '../../scripts/build-web.ts';
import { type Head, openBrowser, picture, submitJob, visit } from './browser.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const name = 'page-test';
let home: string;
let head: Head;
let browser: Browser;

async function manta(...args: string[]): Promise<void> {
  const env = { ...process.env, MANTA_HOME: home };
  await promisify(execFile)(process.execPath, [join(root, 'bin/manta'), ...args], { env, timeout: 120_000 });
}

const inState = (file: string): Promise<string> => readFile(join(home, 'clusters', name, file), 'utf8');

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'manta-page-'));
  await buildWeb();
  await manta('up', '-n', name, '--yes');
  const { url } = JSON.parse(await inState('mantad.json')) as { url: string };
  head = {
    url: `${url}/`,
    token: (await inState('tokens/owner')).trim(),
    fake: undefined,
    close: () => manta('down', '-n', name, '--yes'),
  };
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await head?.close();
  await rm(home, { recursive: true, force: true });
});

test('a real cluster scales up for a job while the page looks on', async () => {
  const { page, complaints, close } = await visit(browser, head);
  await page.getByRole('button', { name: 'New job' }).click();
  await page.getByRole('textbox', { name: 'Command' }).fill('echo "it runs"; sleep 1');
  await page.getByRole('button', { name: 'Submit job' }).click();
  await page.getByRole('region', { name: 'Output of attempt 1' }).getByText('it runs').waitFor();
  await page.getByText('End of the log, exit code 0').waitFor();
  await page.goto(`${head.url}#/`);
  await page.locator('.legend').getByText('worker').waitFor();
  await page.getByText(/node changes?, with reasons/).click();
  await page.locator('.changes').getByText('1 × worker launched').first().waitFor();
  await picture(page, 'mantad-overview-light');
  assert.deepEqual(complaints, []);
  await close();
});

test('the page and a live log outlive mantad, killed without warning', async () => {
  const count = 120;
  const script = `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo "row $i"; sleep 0.05; done`;
  const job = await submitJob(head, { entrypoint: script, resources: { CPU: 1 } });
  const { page, close } = await visit(browser, head, `#/jobs/${job.id}`);
  const log = page.getByRole('region', { name: 'Output of attempt 1' });
  await log
    .getByText(/^row \d+$/)
    .first()
    .waitFor();
  const { mantad } = JSON.parse(await inState('mantad.json')) as { mantad: { pid: number } };
  process.kill(mantad.pid, 'SIGKILL');
  await page.getByText('Reconnecting…').first().waitFor();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.getByText('End of the log, exit code 0').waitFor();
  await page.getByText(`${count} lines`).waitFor();
  await page.locator('.job-head').getByText('Succeeded').waitFor();
  await close();
});
