// needs: chromium

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { desktop, type Head, openBrowser, openHead, phone, submitJob, visit } from './browser.ts';

let head: Head;
let browser: Browser;

before(async () => {
  head = await openHead({ nodes: 60, jobs: 2000 });
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await head?.close();
});

async function places(): Promise<string[]> {
  const jobs = head.fake?.cluster.jobs() ?? [];
  const failed = jobs.find((job) => job.state === 'failed')?.id;
  const running = jobs.find((job) => job.state === 'running')?.id;
  const node = head.fake?.cluster.nodes[3]?.instance;
  return [
    '#/',
    '#/jobs',
    '#/nodes',
    '#/demand',
    '#/events',
    ...(failed === undefined ? [] : [`#/jobs/${failed}`]),
    ...(running === undefined ? [] : [`#/jobs/${running}`]),
    ...(node === undefined ? [] : [`#/nodes/${node}`]),
  ];
}

/** Goes through views and the submit dialog, and collects what `look` finds wrong with each. */
async function survey(page: Page, look: () => string[]): Promise<string[]> {
  const found: string[] = [];
  for (const place of await places()) {
    await page.goto(head.url + place);
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await page.waitForFunction(() => document.querySelector('.loading') === null);
    found.push(...(await page.evaluate(look)).map((problem) => `${place}: ${problem}`));
  }
  await page.getByRole('button', { name: 'New job' }).click();
  await page.getByRole('dialog').getByText('Environment', { exact: true }).click();
  found.push(...(await page.evaluate(look)).map((problem) => `dialog: ${problem}`));
  return found;
}

/** Runs in the page: WCAG 2.2 contrast of every text that is drawn (4.5, or 3 for large text). */
function lowContrast(): string[] {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour: string): number[] => {
    if (canvas === null) return [0, 0, 0, 0];
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (channels: number[]): number => {
    const [red = 0, green = 0, blue = 0] = channels.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element: Element | null): number[] => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const problems = new Set<string>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() !== null) {
    const text = walker.currentNode.textContent?.trim() ?? '';
    const element = walker.currentNode.parentElement;
    if (
      text === '' ||
      element === null ||
      !element.checkVisibility() ||
      element.closest('.hidden-text, noscript, .skip-link')
    )
      continue;
    if (document.querySelector('dialog') !== null && element.closest('dialog') === null) continue;
    const style = getComputedStyle(element);
    const front = luminance(rgba(style.color));
    const back = luminance(behind(element));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      problems.add(`${ratio.toFixed(2)} for '${text.slice(0, 30)}' (${element.className})`);
  }
  return [...problems];
}

/** Runs in the page: everything that can be used has a name, is large enough, and stands where it should. */
function structureProblems(): string[] {
  const problems: string[] = [];
  const nameOf = (element: Element): string => {
    const labelledBy = element.getAttribute('aria-labelledby');
    const labels =
      element instanceof HTMLInputElement ||
      element instanceof HTMLTextAreaElement ||
      element instanceof HTMLSelectElement
        ? [...(element.labels ?? [])]
        : [];
    return (
      [
        element.getAttribute('aria-label'),
        labelledBy === null ? null : document.getElementById(labelledBy)?.textContent,
        ...labels.map((label) => label.textContent),
        element.textContent,
      ]
        .map((text) => text?.trim() ?? '')
        .find((text) => text !== '') ?? ''
    );
  };
  const shown = (element: Element): boolean => element.checkVisibility() && element.getBoundingClientRect().width > 1;
  const usable =
    'a[href], button, input, textarea, select, summary, [tabindex="0"], [role=grid], [role=meter], dialog, nav, section, aside';
  for (const element of document.querySelectorAll(usable)) {
    if (!shown(element)) continue;
    const what = `<${element.tagName.toLowerCase()} class="${element.className}">`;
    if (nameOf(element) === '') problems.push(`${what} has no name`);
    const box = element.getBoundingClientRect();
    const inText =
      element.tagName === 'A' || element.classList.contains('link-button') || element.tagName === 'SUMMARY';
    if (
      !inText &&
      element.matches('button, select, input:not([type=checkbox])') &&
      (box.height < 24 || box.width < 24)
    ) {
      problems.push(`${what} is ${box.width} × ${box.height}`);
    }
  }
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  for (const id of new Set(ids.filter((each, index) => ids.indexOf(each) !== index))) problems.push(`id ${id} twice`);
  if (document.querySelectorAll('h1').length !== 1)
    problems.push(`${document.querySelectorAll('h1').length} first headings`);
  if (document.querySelectorAll('main').length !== 1) problems.push('not one main');
  if (document.documentElement.lang === '') problems.push('no language');
  if (document.title === '' || !document.title.includes('Manta')) problems.push(`title '${document.title}'`);
  for (const reference of ['aria-describedby', 'aria-labelledby', 'aria-activedescendant']) {
    for (const element of document.querySelectorAll(`[${reference}]`)) {
      const id = element.getAttribute(reference) ?? '';
      if (document.getElementById(id) === null) problems.push(`${reference} names ${id}, which is not there`);
    }
  }
  for (const row of document.querySelectorAll('[role=row]')) {
    if (row.closest('[role=grid]') === null) problems.push('a row outside a grid');
    if (![...row.children].every((cell) => /gridcell|columnheader/.test(cell.getAttribute('role') ?? '')))
      problems.push('a row with a child that is no cell');
  }
  return problems;
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every text has enough contrast: ${colorScheme}`, async () => {
    const { page, close } = await visit(browser, head, '', { ...desktop, colorScheme });
    assert.deepEqual(await survey(page, lowContrast), []);
    await close();
  });
}

for (const [width, options] of [
  ['desktop', desktop],
  ['phone', phone],
] as const) {
  test(`everything that can be used has a name and a size: ${width}`, async () => {
    const { page, close } = await visit(browser, head, '', options);
    assert.deepEqual(await survey(page, structureProblems), []);
    await close();
  });
}

test('a state is told by shape and word, not by colour alone', async () => {
  await submitJob(head, { entrypoint: 'true' });
  const { page, close } = await visit(browser, head, '#/jobs');
  await page.getByRole('row').nth(1).waitFor();
  const bare = await page.evaluate(
    () =>
      [...document.querySelectorAll('.state')].filter(
        (state) => state.querySelector('svg') === null || (state.textContent ?? '').trim() === '',
      ).length,
  );
  assert.equal(bare, 0);
  await close();
});

test('the theme follows the system until one is chosen, and the choice is kept', async () => {
  const { page, close } = await visit(browser, head, '', { ...desktop, colorScheme: 'dark' });
  const drawn = (): Promise<string | null> => page.locator('html').getAttribute('data-theme');
  assert.equal(await drawn(), 'dark');
  await page.getByRole('button', { name: /^Theme: system/ }).click();
  assert.equal(await drawn(), 'light');
  await page.reload();
  await page.getByText('Live', { exact: true }).first().waitFor();
  assert.equal(await drawn(), 'light');
  await close();
});
