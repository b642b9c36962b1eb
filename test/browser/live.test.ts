// needs: chromium

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type Head, openBrowser, openHead, picture, seeded, submitJob, visit } from './browser.ts';

let head: Head;
let browser: Browser;

before(async () => {
  head = await openHead({ nodes: 50, jobs: 500 });
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await head?.close();
});

/** The browser itself writes these to the console while nobody answers. */
const refused = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING/;

test('a job submitted elsewhere appears by itself and changes in place', async () => {
  const { page, complaints, close } = await visit(browser, head, '#/jobs');
  const id = `appears-${Date.now()}`;
  await submitJob(head, { id, entrypoint: 'sleep 0.3' });
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: id }) });
  await row.waitFor();
  await row.getByText('Succeeded').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('what the reader looks at stays in place when jobs come in above it', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const { page, close } = await visit(browser, head, '#/jobs');
  const grid = page.getByRole('grid', { name: 'Jobs' });
  await grid.evaluate((element) => element.scrollTo(0, 100 * 34));
  const target = fake.cluster.list([], '')[105]?.id ?? '';
  const link = page.getByRole('link', { name: target });
  await link.waitFor();
  const before = await link.boundingBox();
  const first = await submitJob(head, { entrypoint: 'true' });
  await submitJob(head, { entrypoint: 'true' });
  await page.waitForFunction(() => document.querySelector('[role=grid]')?.getAttribute('aria-rowcount') !== null);
  await page.getByText(`${fake.cluster.list([], '').length} jobs`).waitFor();
  const after = await link.boundingBox();
  assert.ok(
    Math.abs((before?.y ?? 0) - (after?.y ?? -99)) < 1,
    `moved from ${before?.y} to ${after?.y} after ${first.id}`,
  );
  await close();
});

test('the page says that it reconnects, comes back by itself and misses nothing', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const { page, complaints, close } = await visit(browser, head, '#/events');
  fake.cluster.say('info', 'MANTA_TEST', 'before the restart');
  await page.getByText('before the restart').waitFor();
  await fake.stop();
  await page.getByText('Reconnecting…').waitFor();
  await picture(page, 'reconnecting-light');
  fake.cluster.say('warn', 'MANTA_TEST', 'while nobody answered');
  await fake.start();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.getByText('while nobody answered').waitFor();
  assert.equal(await page.getByText('before the restart').count(), 1);
  fake.cluster.say('info', 'MANTA_TEST', 'after the restart');
  await page.getByText('after the restart').waitFor();
  assert.deepEqual(
    complaints.filter((complaint) => !refused.test(complaint)),
    [],
  );
  await close();
});

test('a job that changed while the head was away is shown as it is now', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const job = await submitJob(head, { entrypoint: 'sleep 600' });
  const { page, close } = await visit(browser, head, `#/jobs/${job.id}`);
  await page.locator('.job-head').getByText('Running').waitFor();
  await fake.stop();
  await page.getByText('Reconnecting…').first().waitFor();
  fake.cluster.stop(job.id);
  await fake.start();
  await page
    .getByRole('button', { name: 'Retry now' })
    .click({ timeout: 3000 })
    .catch(() => undefined);
  await page.locator('.job-head').getByText('Stopped').waitFor();
  await close();
});

test('a log goes on where it stopped after a restart, byte for byte', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const count = 600;
  const job = await submitJob(head, {
    entrypoint: `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo "row $i täst ✓"; sleep 0.005; done`,
  });
  const { page, close } = await visit(browser, head, `#/jobs/${job.id}`);
  for (let round = 0; round < 2; round += 1) {
    await page.getByText('Live', { exact: true }).first().waitFor();
    await fake.stop();
    await page.getByText('Reconnecting…').first().waitFor();
    await fake.start();
  }
  await page.getByText('End of the log, exit code 0').waitFor();
  await page.getByText(`${count} lines`).waitFor();
  const log = page.getByRole('region', { name: 'Output of attempt 1' });
  const seen = new Set<string>();
  for (let top = 0; top < count * 18; top += 400) {
    await log.evaluate((element, to) => element.scrollTo(0, to), top);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    for (const line of await page.locator('.log-line').allInnerTexts()) seen.add(line);
  }
  const wanted = Array.from({ length: count }, (_, index) => `row ${index + 1} täst ✓`);
  assert.deepEqual([...seen].sort(), wanted.sort());
  await close();
});

test('the page says who does not answer, and what is not known therefore', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const { page, complaints, close } = await visit(browser, head, '#/');
  fake.cluster.unknown = [
    'Ray has not responded for 3 min: no connection',
    '20 machines are running, but what runs on them is unknown',
  ];
  await page.reload();
  await page.getByText('Ray has not responded for 3 min: no connection.').waitFor();
  await page.getByText('20 machines are running, but what runs on them is unknown.').waitFor();
  await page.getByText('Partly live').waitFor();
  fake.cluster.unknown = [];
  await page.reload();
  await page.getByText('Live', { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});
