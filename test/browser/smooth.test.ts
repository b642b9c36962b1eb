// needs: chromium

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Head, openBrowser, openHead, seeded, submitJob, visit } from './browser.ts';

let head: Head;
let browser: Browser;

before(async () => {
  head = await openHead({ nodes: 1000, jobs: 10_000, lively: true });
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await head?.close();
});

interface Frames {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly longest: number;
  /** Share of the time that scripts of more than 50 ms took. */
  readonly blocked: number;
}

/** Scrolls a list for some seconds, a little every frame with jumps in between, and takes the time between frames. */
function scrollAndMeasure(page: Page, selector: string, seconds = 4): Promise<Frames> {
  return page.evaluate(
    ([wanted, length]) =>
      new Promise<Frames>((resolve) => {
        const element = document.querySelector(wanted);
        if (element === null) throw new Error(`there is no ${wanted}`);
        let blocked = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) blocked += entry.duration;
        }).observe({ type: 'longtask' });
        const gaps: number[] = [];
        const start = performance.now();
        let last = start;
        const step = (now: number): void => {
          gaps.push(now - last);
          last = now;
          const bottom = element.scrollHeight - element.clientHeight;
          const jump = gaps.length % 60 === 0 ? bottom / 7 : 120;
          element.scrollTop = (element.scrollTop + jump) % bottom;
          if (now - start < length) return void requestAnimationFrame(step);
          const sorted = gaps.slice(2).sort((a, b) => a - b);
          const at = (share: number): number =>
            Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 10) / 10;
          resolve({
            count: sorted.length,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            longest: at(1),
            blocked: blocked / length,
          });
        };
        requestAnimationFrame(step);
      }),
    [selector, seconds * 1000] as const,
  );
}

const lists = [
  { name: '10,000 jobs', hash: '#/jobs', selector: '.grid-scroller', heading: 'Jobs' },
  { name: '1,000 nodes', hash: '#/nodes', selector: '.grid-scroller', heading: 'Nodes' },
  { name: 'the events', hash: '#/events', selector: '.grid-scroller', heading: 'Events' },
] as const;

for (const list of lists) {
  test(`scrolling ${list.name} draws rows in sight only, while the cluster changes`, async (t) => {
    if (seeded(head, t) === undefined) return;
    const { page, complaints, close } = await visit(browser, head, list.hash);
    await page.getByRole('row').nth(5).waitFor();
    await page.locator(list.selector).evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.locator('.cell-gap').first().waitFor({ state: 'detached' });
    const devtools = await page.context().newCDPSession(page);
    // Time of the thread itself: other work on the machine does not count.
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    const busy = async (): Promise<number> =>
      (await devtools.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
    const before = await busy();
    const frames = await scrollAndMeasure(page, list.selector);
    const work = ((await busy()) - before) * 1000;
    const memory = await page.evaluate(
      () => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize,
    );
    const elements = await page.evaluate(() => document.querySelectorAll('*').length);
    t.diagnostic(
      `${list.name}: frames ${frames.count}, p50 ${frames.p50} ms, p95 ${frames.p95} ms, p99 ${frames.p99} ms, longest ${frames.longest} ms, ` +
        `main thread ${(work / frames.count).toFixed(1)} ms of processor time a frame, ` +
        `long tasks ${(frames.blocked * 100).toFixed(1)}% of the time; ${elements} elements, heap ${(memory / 1e6).toFixed(0)} MB`,
    );
    assert.ok(elements < 3000, `${elements} elements`);
    assert.ok(frames.count > 0);
    assert.deepEqual(complaints, []);
    await close();
  });
}

test('a log of 300,000 lines written at once ends whole, with the newest 100,000 held', async (t) => {
  if (seeded(head, t) === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), 'manta-log-'));
  const sign = join(folder, 'go');
  const job = await submitJob(head, {
    entrypoint: `echo first; while [ ! -e '${sign}' ]; do sleep 0.05; done; seq 1 300000`,
  });
  const { page, complaints, close } = await visit(browser, head, `#/jobs/${job.id}`);
  await page.getByText('first', { exact: true }).waitFor();
  const start = Date.now();
  await writeFile(sign, '');
  await page.getByText('End of the log, exit code 0').waitFor();
  const log = page.getByRole('region', { name: 'Output of attempt 1' });
  await log.getByText('300000', { exact: true }).waitFor();
  const shown = Date.now() - start;
  const count = Number.parseInt((await page.locator('.log-count').innerText()).replace(',', ''), 10);
  assert.ok(count > 90_000 && count <= 110_000, `${count} lines`);
  const frames = await scrollAndMeasure(page, '.log');
  t.diagnostic(
    `log: shown to its end within ${shown} ms of the first line; scrolling ${count} lines: p50 ${frames.p50} ms, p95 ${frames.p95} ms, p99 ${frames.p99} ms`,
  );
  await page.getByRole('searchbox', { name: 'Search the log' }).fill('299999');
  await page.getByText('1 of 1').waitFor();
  assert.deepEqual(complaints, []);
  await close();
  await rm(folder, { recursive: true });
});

test('opening each view with 1,000 nodes and 10,000 jobs', async (t) => {
  if (seeded(head, t) === undefined) return;
  const { page, close } = await visit(browser, head);
  for (const list of lists) {
    const took = await page.evaluate(
      ([hash, heading]) =>
        new Promise<number>((resolve) => {
          const start = performance.now();
          location.hash = hash;
          const look = (): void => {
            const ready =
              document.querySelector('h1')?.textContent === heading &&
              document.querySelectorAll('[role=row]').length > 5;
            if (ready) resolve(performance.now() - start);
            else requestAnimationFrame(look);
          };
          look();
        }),
      [list.hash, list.heading] as const,
    );
    t.diagnostic(`${list.heading} shown ${took.toFixed(0)} ms after the click`);
  }
  await close();
});
