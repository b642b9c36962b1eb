// needs: chromium

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type Head, openBrowser, openHead, patience, picture, seeded, watchComplaints } from './browser.ts';

let head: Head;
let browser: Browser;

before(async () => {
  head = await openHead({ nodes: 3, jobs: 10 });
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await head?.close();
});

test('without a session the page asks for a token, refuses a wrong one and takes the right one', async () => {
  const context = await browser.newContext();
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  await page.goto(head.url);
  await page.getByRole('heading', { name: 'Sign in to Manta' }).waitFor();
  await picture(page, 'sign-in-light');
  await page.getByLabel('Token').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('Invalid token').waitFor();
  await page.getByLabel('Token').fill(head.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Live', { exact: true }).first().waitFor();
  assert.equal(await page.evaluate(() => document.cookie), '', 'no script can read the session');
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  assert.ok(!stored.includes(head.token));
  await page.reload();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await context.close();
});

test('a one-time link signs in, and says so when it is spent', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const link = fake.ticket();
  const context = await browser.newContext();
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const complaints = watchComplaints(page);
  await page.goto(link);
  await page.getByText('Live', { exact: true }).first().waitFor();
  assert.equal(page.url(), head.url);
  assert.deepEqual(complaints, []);
  await context.clearCookies();
  await page.goto(link);
  await page.getByText('This link was already used or has expired').waitFor();
  assert.ok(!page.url().includes('ticket'));
  await context.close();
});

test('a session that is revoked leads back to the sign-in', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const context = await browser.newContext();
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  await page.goto(fake.ticket());
  await page.getByText('Live', { exact: true }).first().waitFor();
  await fake.stop();
  await page.getByText('Reconnecting…').waitFor();
  await context.clearCookies();
  await fake.start();
  await page.getByRole('heading', { name: 'Sign in to Manta' }).waitFor();
  await context.close();
});
