// needs: chromium

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { SubmitBody } from '../../src/api/types.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import { type FakeHead, type FakeHeadOptions, startFakeHead } from './fake-head.ts';

/** What the page talks to: the fake head, or a real one named by MANTA_DASHBOARD_URL and MANTA_DASHBOARD_TOKEN. */
export interface Head {
  readonly url: string;
  readonly token: string;
  /** Present when the data is seeded and the server can be stopped and started. */
  readonly fake: FakeHead | undefined;
  close(): Promise<void>;
}

export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
export const desktop: BrowserContextOptions = { viewport: { width: 1360, height: 860 } };

/** Catches a hang; no test is about time. */
export const patience = 60_000;

const screenshots = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), '.cache/screenshots');

export async function openHead(options: FakeHeadOptions = {}): Promise<Head> {
  const url = process.env['MANTA_DASHBOARD_URL'];
  if (url !== undefined && url !== '') {
    const token = process.env['MANTA_DASHBOARD_TOKEN'];
    if (token === undefined) throw new Error('MANTA_DASHBOARD_URL needs MANTA_DASHBOARD_TOKEN beside it');
    return { url, token, fake: undefined, close: async () => {} };
  }
  const fake = await startFakeHead(options);
  return { url: fake.url, token: fake.token, fake, close: () => fake.close() };
}

/** The fake head, or a skip that says why: a real one has neither seeded data nor a switch. */
export function seeded(head: Head, t: TestContext): FakeHead | undefined {
  if (head.fake === undefined) t.skip('needs the seeded fake head; MANTA_DASHBOARD_URL names a real one');
  return head.fake;
}

export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env['MANTA_CHROMIUM'] ?? '/usr/bin/chromium';
  try {
    return await chromium.launch({
      executablePath,
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
  } catch (cause) {
    throw new Error(`no Chromium at ${executablePath}: apt-get install chromium, or name one by MANTA_CHROMIUM`, {
      cause,
    });
  }
}

export interface Visit {
  readonly page: Page;
  /** What the page complained about: console errors and warnings, uncaught exceptions, policy violations. */
  readonly complaints: string[];
  readonly close: () => Promise<void>;
}

/** A fresh profile, signed in, at a view such as `#/jobs`. */
export async function visit(
  browser: Browser,
  head: Head,
  hash = '',
  options: BrowserContextOptions = desktop,
): Promise<Visit> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(patience);
  const signedIn = await context.request.post(new URL('api/authenticate', head.url).href, {
    headers: { authorization: `Bearer ${head.token}` },
  });
  if (!signedIn.ok()) throw new Error(`the head responded with HTTP ${signedIn.status()} to the token`);
  const page = await context.newPage();
  const complaints = watchComplaints(page);
  await page.goto(head.url + hash);
  await page.getByText('Live', { exact: true }).first().waitFor();
  return { page, complaints, close: () => context.close() };
}

export function watchComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.stack ?? error.message));
  return complaints;
}

/** Submits past the page, as the command line would. */
export async function submitJob(head: Head, body: SubmitBody): Promise<Job> {
  const response = await fetch(new URL('api/manta/v1/jobs', head.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${head.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`submit: ${response.status} ${await response.text()}`);
  return (await response.json()) as Job;
}

/** Keeps a picture for people under `.cache/screenshots`. */
export async function picture(page: Page, name: string): Promise<void> {
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}
