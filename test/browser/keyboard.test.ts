// needs: chromium

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Head, openBrowser, openHead, seeded, visit } from './browser.ts';

let head: Head;
let browser: Browser;

before(async () => {
  head = await openHead({ nodes: 50, jobs: 2000 });
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await head?.close();
});

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? '';
  });

async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === name) return;
  }
  assert.fail(`Tab never reached ${name}`);
}

test('a job is found, opened, stopped and left by keys alone', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const { page, complaints, close } = await visit(browser, head);
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.getByRole('grid', { name: 'Jobs' }).waitFor();
  assert.equal(await focused(page), 'Jobs');
  await page.keyboard.press('/');
  await page.keyboard.type('sweep');
  const found = fake.cluster.list([], 'sweep');
  await page.getByText(`${found.length.toLocaleString('en')} matches`).waitFor();
  await tabTo(page, 'Jobs');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  const active = page.locator('.grid-body-row.is-active');
  const id = await active.getByRole('link').innerText();
  assert.equal(id, found[0]?.id);
  const grid = page.getByRole('grid', { name: 'Jobs' });
  assert.equal(await grid.getAttribute('aria-activedescendant'), await active.getAttribute('id'));
  await page.keyboard.press('PageDown');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: id }).waitFor();
  assert.equal(await focused(page), id);
  await tabTo(page, 'Stop');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Stop this job?' }).waitFor();
  assert.equal(await focused(page), 'Cancel');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await focused(page), 'Stop');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Stop this job?' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('.job-head').getByText('Stopped').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a dialog gives the focus back however it is closed, and opens again at once', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const running = fake.cluster.list(['running'], '')[0];
  assert.ok(running);
  const { page, complaints, close } = await visit(browser, head, `#/jobs/${running.id}`);
  await page.getByRole('button', { name: 'Stop', exact: true }).focus();
  const question = page.getByRole('dialog', { name: 'Stop this job?' });
  await page.keyboard.press('Enter');
  for (let times = 0; times < 20; times += 1) {
    await question.waitFor();
    await Promise.all([page.keyboard.press('Escape'), page.keyboard.press('Enter')]);
  }
  await question.waitFor();
  for (const way of ['Cancel', 'Close']) {
    await question.getByRole('button', { name: way }).press('Enter');
    await question.waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'Stop', way);
    await page.keyboard.press('Enter');
    await question.waitFor();
  }
  assert.deepEqual(complaints, []);
  await close();
});

test('the skip link and the order of Tab lead from the top to the content', async () => {
  const { page, close } = await visit(browser, head, '#/jobs');
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Skip to content');
  await page.keyboard.press('Enter');
  assert.equal(await focused(page), 'Jobs');
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Search id, command or user');
  await close();
});

test('the focus is always to be seen', async () => {
  const { page, close } = await visit(browser, head, '#/nodes');
  for (let step = 0; step < 16; step += 1) {
    await page.keyboard.press('Tab');
    const outline = await page.evaluate(() => {
      const style = getComputedStyle(document.activeElement ?? document.body);
      return { width: Number.parseFloat(style.outlineWidth), style: style.outlineStyle };
    });
    assert.ok(outline.width >= 2 && outline.style === 'solid', `${await focused(page)}: ${JSON.stringify(outline)}`);
  }
  await close();
});

test('the chart is read with the arrow keys', async (t) => {
  if (seeded(head, t) === undefined) return;
  const { page, close } = await visit(browser, head);
  await page.getByRole('group', { name: /Chart of nodes/ }).focus();
  for (let step = 0; step < 12; step += 1) await page.keyboard.press('ArrowLeft');
  await page.locator('.chart-tip').getByText('cpu-large', { exact: true }).waitFor();
  await close();
});

test('single keys are listed, and can be switched off', async () => {
  const { page, close } = await visit(browser, head);
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard' });
  await help.getByRole('checkbox').uncheck();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
  await page.keyboard.press('c');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.reload();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.keyboard.press('c');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await close();
});
