// needs: chromium

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { desktop, type Head, openBrowser, openHead, phone, picture, seeded, visit } from './browser.ts';

let head: Head;
let browser: Browser;

before(async () => {
  head = await openHead();
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await head?.close();
});

const views = [
  { name: 'overview', hash: '#/', sign: 'This cluster shuts down in 22h' },
  { name: 'jobs', hash: '#/jobs', sign: 'Command' },
  { name: 'nodes', hash: '#/nodes', sign: 'demo-head' },
  { name: 'demand', hash: '#/demand', sign: 'All demand' },
  { name: 'events', hash: '#/events', sign: 'About' },
] as const;

const dresses = [
  { dress: 'light', options: { ...desktop, colorScheme: 'light' } },
  { dress: 'dark', options: { ...desktop, colorScheme: 'dark' } },
  { dress: 'phone', options: phone },
] as const;

for (const { dress, options } of dresses) {
  test(`every view is drawn without a complaint: ${dress}`, async (t) => {
    if (seeded(head, t) === undefined) return;
    const { page, complaints, close } = await visit(browser, head, '', options);
    for (const view of views) {
      await page.goto(head.url + view.hash);
      await page.getByText(view.sign).first().waitFor({ state: 'attached' });
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      const width = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
      assert.ok((width[0] ?? 0) <= (width[1] ?? 0), `${view.name} is wider than the window: ${width.join(' > ')}`);
      await picture(page, `${view.name}-${dress}`);
    }
    assert.deepEqual(complaints, []);
    await close();
  });
}

test('the overview says how the cluster stands', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const { page, close } = await visit(browser, head);
  const shown = fake.cluster.cluster();
  const tile = (label: string) => page.locator('.tile').filter({ hasText: label }).locator('.tile-value');
  assert.equal(await tile('Nodes').innerText(), String(shown.nodes.running));
  assert.equal(await tile('Jobs running').innerText(), String(shown.jobs.running));
  assert.match(await tile('Cost').innerText(), /^\$[\d,.]+\/h$/);
  const cpu = page.getByRole('meter', { name: 'CPU in use' });
  assert.equal(await cpu.getAttribute('aria-valuenow'), String(shown.usage['CPU']?.used));
  await close();
});

test('a launch on the chart gives its reason on hover and in the list', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const { page, close } = await visit(browser, head);
  const chart = page.locator('.u-over');
  const box = await chart.boundingBox();
  assert.ok(box !== null);
  const since = Date.now() - 3_600_000;
  const mark = fake.cluster.history.marks.find((each) => each.at > since + 600_000 && each.kind === 'launch');
  assert.ok(mark !== undefined);
  await page.mouse.move(box.x + ((mark.at - since) / 3_600_000) * box.width, box.y + 60);
  const tip = page.locator('.chart-tip');
  await tip.getByText('launched').first().waitFor();
  assert.match(await tip.innerText(), new RegExp(mark.because.slice(0, 20).replace(/[{}()]/g, '\\$&')));
  await picture(page, 'overview-hover');
  await page.mouse.move(0, 0);
  await page.getByText(/node changes?, with reasons/).click();
  assert.ok((await page.locator('.changes li').count()) > 5);
  await close();
});

test('what waits says why, type by type', async (t) => {
  if (seeded(head, t) === undefined) return;
  const { page, close } = await visit(browser, head, '#/demand');
  await page.getByText('no node type has 4 GPU; the nearest is gpu-a10 with 1').waitFor();
  await page.getByText('it has 1 GPU, but 4 GPU is needed').waitFor();
  await page.getByText(/the provider has no capacity, 3 times in a row; retrying in \d+ (s|min)/).waitFor();
  await close();
});

test('jobs are found by state and by words, and the address keeps the choice', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const { page, close } = await visit(browser, head, '#/jobs');
  const failed = fake.cluster.list(['failed'], '');
  await page.getByRole('button', { name: /^Failed/ }).click();
  await page.getByText(`${failed.length} matches`).waitFor();
  assert.equal(await page.getByRole('row').nth(1).getByRole('link').innerText(), failed[0]?.id);
  const wanted = failed[40]?.id ?? '';
  await page.getByRole('searchbox').fill(wanted.toUpperCase());
  await page.getByText('1 match', { exact: true }).waitFor();
  assert.equal(new URL(page.url()).hash, `#/jobs?search=${wanted.toUpperCase()}&state=failed`);
  await page.reload();
  await page.getByText('1 match', { exact: true }).waitFor();
  await page.getByRole('searchbox').fill('no such job');
  await page.getByText('No matching jobs').waitFor();
  await page.getByRole('button', { name: 'Show all jobs' }).click();
  await page.getByText('10,000 jobs').waitFor();
  await close();
});

test('the last of ten thousand jobs is reached by scrolling', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const { page, close } = await visit(browser, head, '#/jobs');
  const oldest = fake.cluster.list([], '').at(-1)?.id ?? '';
  const grid = page.getByRole('grid', { name: 'Jobs' });
  await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await page.getByRole('link', { name: oldest }).waitFor();
  assert.ok((await page.getByRole('row').count()) < 80, 'only rows in sight are drawn');
  assert.equal(await grid.getAttribute('aria-rowcount'), '10001');
  await close();
});

test('a node says what it does and why it is there', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const node = fake.cluster.nodes.find((each) => each.jobs.length > 0);
  assert.ok(node !== undefined);
  const { page, complaints, close } = await visit(browser, head, '#/nodes');
  await page.getByRole('searchbox').fill(node.instance);
  await page.getByRole('link', { name: node.instance }).click();
  const detail = page.getByRole('complementary', { name: `Node ${node.instance}` });
  await detail.getByText('cheapest per CPU among types with capacity').waitFor();
  await detail.getByRole('link', { name: node.jobs[0] ?? '' }).waitFor();
  await picture(page, 'node-light');
  await page.keyboard.press('Escape');
  await detail.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
  await close();
});

test('events are found by level and open in full', async (t) => {
  if (seeded(head, t) === undefined) return;
  const { page, close } = await visit(browser, head, '#/events');
  await page.getByRole('button', { name: 'Warning' }).click();
  await page.getByText('no capacity; not asked again').first().click();
  const dialog = page.getByRole('dialog', { name: 'Event' });
  await dialog.getByText('MANTA_AUTOSCALER_REFUSED').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await close();
});

test('an empty cluster says what to do first', async (t) => {
  if (seeded(head, t) === undefined) return;
  const empty = await openHead({ nodes: 1, jobs: 0 });
  try {
    const { page, complaints, close } = await visit(browser, empty);
    await page.getByText('Nothing is waiting').waitFor();
    await page.getByText('No jobs yet').waitFor();
    await picture(page, 'overview-empty');
    await page.goto(`${empty.url}#/jobs`);
    await page.getByText('manta job submit -- echo hello').waitFor();
    assert.deepEqual(complaints, []);
    await close();
  } finally {
    await empty.close();
  }
});

test('an address that leads nowhere says so', async () => {
  const { page, close } = await visit(browser, head, '#/nowhere');
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.goto(`${head.url}#/jobs/no-such-job`);
  await page.getByText('Job no-such-job not found').waitFor();
  await close();
});

test('the page works under a prefix', async (t) => {
  if (seeded(head, t) === undefined) return;
  const other = await openHead({ nodes: 3, jobs: 5, prefix: '/clusters/demo/' });
  try {
    const { page, complaints, close } = await visit(browser, other, '#/jobs');
    await page.getByText('5 jobs').waitFor();
    assert.deepEqual(complaints, []);
    await close();
  } finally {
    await other.close();
  }
});
