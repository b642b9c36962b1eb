// needs: chromium

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { plan } from '../../src/core/plan/plan-cluster.ts';
import { faultProfiles } from '../../src/simulation/faults.ts';
import { outcomePage } from '../../src/simulation/report/html.ts';
import { outcomeOf } from '../../src/simulation/report/outcome.ts';
import { simulateManta } from '../../src/simulation/simulate.ts';
import { scenarioOf, smallCluster } from '../simulation/worlds.ts';
import { openBrowser } from './browser.ts';

let browser: Browser;

before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

test('the page of a simulation can be read on a narrow screen', async () => {
  const scenario = scenarioOf({
    ...smallCluster,
    summary: 'a dozen tasks',
    work: [{ tasks: 12, needs: { CPU: 1 }, duration: '30s' }],
  });
  const options = { scenario, seed: 1, rates: faultProfiles.none, sampleEvery: 10_000 };
  const simulation = await simulateManta(options, plan);
  const page = await browser.newPage({ viewport: { width: 400, height: 800 } });
  await page.setContent(
    outcomePage([outcomeOf(scenario, 'none', [1], [[simulation, { ...simulation, decider: 'ray' }]])]),
  );
  await page.getByText('a dozen tasks. Seed 1; faults: none.').waitFor();
  const labels = page.locator('.chart span, .chart text');
  assert.equal(await labels.count(), 12);
  for (const label of await labels.all()) {
    const box = await label.boundingBox();
    assert.ok(box !== null && box.height >= 11 && box.x >= 0 && box.x + box.width <= 400, await label.innerText());
  }
  const left = async (name: string): Promise<number> => {
    const padding = await page
      .getByRole('rowheader', { name, exact: true })
      .evaluate((cell) => getComputedStyle(cell).paddingLeft);
    return Number.parseFloat(padding);
  };
  assert.ok((await left('cpu')) > (await left('node hours')));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.close();
});
