// needs: chromium

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Head, openBrowser, openHead, patience, picture, seeded, submitJob, visit } from './browser.ts';

let head: Head;
let browser: Browser;

before(async () => {
  head = await openHead({ nodes: 20, jobs: 2000 });
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await head?.close();
});

test('a job submitted on the page runs, and its log ends with its exit code', async () => {
  const { page, complaints, close } = await visit(browser, head);
  await page.getByRole('button', { name: 'New job' }).click();
  await page.getByRole('textbox', { name: 'Command' }).fill('for i in 1 2 3; do echo "hello $i"; done; exit 0');
  await picture(page, 'submit-light');
  await page.getByRole('button', { name: 'Submit job' }).click();
  await page.getByText('hello 3').waitFor();
  await page.getByText('End of the log, exit code 0').waitFor();
  await page.locator('.job-head').getByText('Succeeded').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('what is wrong with a form is said at the field, before anything is sent', async () => {
  const { page, close } = await visit(browser, head, '#/jobs');
  await page.getByRole('button', { name: 'New job' }).click();
  await page.getByLabel('CPUs').fill('many');
  await page.getByText('Environment', { exact: true }).click();
  await page.getByLabel('Environment variables').fill('NOT A PAIR');
  await page.getByRole('button', { name: 'Submit job' }).click();
  await page.getByText('Enter a command to run').waitFor();
  await page.getByText('A number of at least 0').waitFor();
  await page.getByText("'NOT A PAIR' is not NAME=VALUE").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'entrypoint');
  await close();
});

test('a job that no node can hold is refused with the reason', async (t) => {
  if (seeded(head, t) === undefined) return;
  const { page, close } = await visit(browser, head, '#/jobs');
  await page.getByRole('button', { name: 'New job' }).click();
  await page.getByRole('textbox', { name: 'Command' }).fill('true');
  await page.getByLabel('GPUs').fill('64');
  await page.getByRole('button', { name: 'Submit job' }).click();
  const alert = page.getByRole('alert');
  await alert.getByText('No node type has 64 GPU.').waitFor();
  await alert.getByText('The nearest is gpu-a10 with 1.').waitFor();
  await close();
});

test('jobs that were given to Ray itself stand apart from those of the queue', async () => {
  const { page, complaints, close } = await visit(browser, head);
  const other = { id: 'of-ray', submittedTo: 'ray', state: 'running', entrypoint: 'python by_hand.py', submittedAt: 1 };
  await page.route(/others=1/, (route) => route.fulfill({ json: { jobs: [], total: 0, others: [other] } }));
  await page.getByRole('link', { name: 'Jobs' }).first().click();
  await page.getByText('1 job submitted directly to Ray').click();
  const row = page.getByRole('row', { name: /of-ray/ });
  await row.getByText('python by_hand.py').waitFor();
  await row.getByText('Running').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a live log is followed, searched and held when the reader scrolls up', async () => {
  const job = await submitJob(head, {
    entrypoint: 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo "line $i of it"; sleep 0.02; done',
  });
  const { page, complaints, close } = await visit(browser, head, `#/jobs/${job.id}`);
  const log = page.getByRole('region', { name: 'Output of attempt 1' });
  await linesHeld(page, 60);
  assert.ok(await page.getByRole('checkbox', { name: 'Follow' }).isChecked());

  await log.evaluate((element) => element.scrollTo(0, 0));
  await page.getByRole('checkbox', { name: 'Follow', checked: false }).waitFor();
  await log.getByText('line 1 of it').waitFor();
  await linesHeld(page, 120);
  assert.equal(await log.evaluate((element) => element.scrollTop), 0);

  await page.getByRole('searchbox', { name: 'Search the log' }).fill('LINE 20 OF');
  await page.getByText('1 of 1').waitFor();
  await page.keyboard.press('Enter');
  await log.locator('mark').filter({ hasText: 'line 20 of' }).waitFor();
  await picture(page, 'job-search-light');

  await page.getByRole('checkbox', { name: 'Follow' }).check();
  await page.getByRole('searchbox', { name: 'Search the log' }).fill('');
  await log.getByText('line 400 of it').waitFor({ timeout: patience });
  await page.getByText('End of the log, exit code 0').waitFor();
  await page.getByText('400 lines').waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

async function linesHeld(page: Page, least: number): Promise<void> {
  await page.waitForFunction(
    (wanted) => Number.parseInt(document.querySelector('.log-count')?.textContent ?? '0', 10) >= wanted,
    least,
  );
}

test('a running job is stopped after a question, and its processes end', async () => {
  const job = await submitJob(head, { entrypoint: 'echo up; sleep 600 & wait' });
  const { page, complaints, close } = await visit(browser, head, `#/jobs/${job.id}`);
  await page.getByRole('region', { name: 'Output of attempt 1' }).getByText('up').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  const question = page.getByRole('dialog', { name: 'Stop this job?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Stop' }).click();
  await question.getByRole('button', { name: 'Stop job' }).click();
  await page.locator('.job-head').getByText('Stopped').waitFor();
  await page.getByText(/^End of the log/).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('a failed job tells its exit code, runs again and is deleted', async () => {
  const job = await submitJob(head, { entrypoint: 'echo broken >&2; exit 7' });
  const { page, complaints, close } = await visit(browser, head, `#/jobs/${job.id}`);
  await page.getByText('End of the log, exit code 7').waitFor();
  await page.locator('.job-head').getByText('Failed').waitFor();
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByText('Submitted as').waitFor();
  await page.getByText('End of the log, exit code 7').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete job' }).click();
  await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

test('each attempt has its own log and its own end', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const job = fake.cluster.jobs().find((each) => each.attempts.length > 1);
  assert.ok(job !== undefined);
  const { page, close } = await visit(browser, head, `#/jobs/${job.id}`, {
    viewport: { width: 1360, height: 860 },
    colorScheme: 'dark',
  });
  await page.getByText('Log attempt 2').waitFor();
  await page.getByText('the node stopped answering and its lease ran out').waitFor();
  await page.getByRole('button', { name: 'Log of attempt 1' }).click();
  await page.getByText('Log attempt 1').waitFor();
  await picture(page, 'job-attempts-dark');
  await close();
});

test('earlier output is loaded on request and the reader stays in place', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const job = fake.cluster.jobs().find((each) => each.state === 'succeeded');
  const { page, close } = await visit(browser, head, `#/jobs/${job?.id}`);
  await page.getByText('2,000 lines').waitFor();
  await page.getByRole('button', { name: 'Load earlier output' }).click();
  await page.getByText('3,000 lines').waitFor();
  await page.getByRole('button', { name: 'Load earlier output' }).waitFor({ state: 'detached' });
  const log = page.getByRole('region', { name: /Output of attempt/ });
  await log.evaluate((element) => element.scrollTo(0, 0));
  await log.getByText(/step\s+1 /).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the whole log' }).click(),
  ]);
  const saved = await readFile(await download.path(), 'utf8');
  assert.equal(saved.split('\n').length - 1, 3000);
  await close();
});

test('values of environment variables are on no screen', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  const { page, close } = await visit(browser, head, `#/jobs/${fake.cluster.jobs()[0]?.id}`);
  await page.getByText('WANDB_API_KEY').waitFor();
  assert.ok(!(await page.content()).includes('not-to-be-seen'));
  await close();
});
