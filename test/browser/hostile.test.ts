// needs: chromium

/** Whatever users, jobs and providers write is text on the page: nothing of it runs, loads or leaves. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Head, openBrowser, openHead, seeded, submitJob, type Visit, visit } from './browser.ts';
import type { FakeHead } from './fake-head.ts';

/** Each would leave a mark if anything but text were made of it: an element, a script that ran, a request. */
const markup = '<img src=/evil.png onerror="window.evil=1"><script>window.evil=1</script>';
const attribute = `" onmouseover="window.evil=1" data-evil='1`;
const frame = '</pre></code><iframe srcdoc="<script>parent.evil=1</script>"></iframe><svg onload="evil=1">';
const link = '<a href="javascript:window.evil=1">click</a> javascript:window.evil=1 https://evil.example/x.js';
const template = '{{constructor.constructor("window.evil=1")()}} ${window.evil=1} %s %c &lt;b&gt; __proto__';
/** Turns the reading direction round, and does not turn it back. */
const turned = '\u202egnp.exe\u2066 \u05d0\u05d1';
const all = [markup, attribute, frame, link, template, turned];

let head: Head;
let browser: Browser;

before(async () => {
  head = await openHead({ nodes: 4, jobs: 5 });
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await head?.close();
});

interface Watched extends Visit {
  /** That the page has made text of everything so far. */
  readonly unharmed: () => Promise<void>;
}

async function watched(hash: string): Promise<Watched> {
  const seen = await visit(browser, head, hash);
  const { page, complaints } = seen;
  const left: string[] = [];
  const origin = new URL(head.url).origin;
  page.on('request', (request) => {
    const { origin: to, pathname } = new URL(request.url());
    if (to !== origin || pathname.startsWith('/evil')) left.push(request.url());
  });
  page.on('dialog', (dialog) => {
    left.push(`a dialog says ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => left.push(`a window opens ${popup.url()}`));
  return { ...seen, unharmed: () => isUnharmed(page, complaints, left) };
}

async function isUnharmed(page: Page, complaints: readonly string[], left: readonly string[]): Promise<void> {
  const found = await page.evaluate(() => ({
    ran: 'evil' in window,
    made: [...document.querySelectorAll('*')]
      .filter(
        (each) =>
          ['IFRAME', 'OBJECT', 'EMBED', 'BASE'].includes(each.tagName) ||
          (each instanceof HTMLImageElement && each.src.includes('evil')) ||
          (each instanceof HTMLScriptElement && !each.src.startsWith(location.origin)) ||
          (each instanceof HTMLAnchorElement && !/^https?:$/.test(each.protocol)) ||
          [...each.attributes].some(({ name }) => name.startsWith('on') || name === 'data-evil'),
      )
      .map((each) => each.outerHTML.slice(0, 200)),
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));
  assert.deepEqual(found, { ran: false, made: [], wide: 0 });
  assert.deepEqual(left, [], 'nothing is asked for elsewhere');
  assert.deepEqual(complaints, [], 'and the policy had nothing to stop');
}

test('ids, commands, metadata, environments and output of jobs are shown as text', async (t) => {
  if (seeded(head, t) === undefined) return;
  const lines = [
    ...all,
    '\u001b[31mred\u001b[0m \u001b]8;;javascript:evil=1\u0007link\u001b]8;;\u0007 \u001b[2J\u001b[1;1H',
  ];
  const quoted = lines.map((line) => `'${line.replaceAll("'", `'\\''`)}'`).join(' ');
  const job = await submitJob(head, {
    id: `job/../${markup}?#&${turned}`,
    entrypoint: `printf '%s\\n' ${quoted}; head -c 3000000 /dev/zero | tr '\\0' 'w'; echo; printf 'bytes \\377\\376\\000 end\\n'`,
    metadata: { [markup]: attribute, [frame]: link, [turned]: template, __proto__x: 'w'.repeat(5_000) },
    runtime_env: { working_dir: `https://host/${markup}.zip`, env_vars: { [markup]: 'x' }, pip: [frame, link] },
  });
  const { page, unharmed, close } = await watched('#/jobs');
  await page.getByText(job.id, { exact: false }).first().waitFor();
  await unharmed();

  await page.goto(`${head.url}#/jobs/${encodeURIComponent(job.id)}`);
  assert.equal(await page.locator('.job-head h1').textContent(), job.id);
  assert.ok((await page.getByLabel('Command').textContent())?.includes(markup));
  const log = page.getByRole('region', { name: 'Output of attempt 1' });
  await page.getByText('End of the log, exit code 0').waitFor();
  await log.evaluate((element) => element.scrollTo(0, 0));
  for (const line of [markup, attribute, link, template]) await log.getByText(line).first().waitFor();
  await page.getByText(frame).first().waitFor();
  const environment = page.locator('section', { has: page.getByRole('heading', { name: 'Environment' }) });
  for (const text of [markup, frame, turned])
    await environment.locator('dt').getByText(text, { exact: true }).first().waitFor();
  await unharmed();

  await page.getByRole('searchbox', { name: 'Search the log' }).fill(markup);
  await log.locator('mark').first().waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog');
  assert.ok((await question.textContent())?.includes(job.id));
  await unharmed();
  await close();
});

test('names of nodes, reasons, labels of demand and events are shown as text', async (t) => {
  const fake = seeded(head, t);
  if (fake === undefined) return;
  spoil(fake);
  const { page, unharmed, close } = await watched('#/nodes');
  await page.getByText(`i-${markup}`).first().waitFor();
  await unharmed();
  await page.goto(`${head.url}#/nodes/${encodeURIComponent(`i-${markup}`)}`);
  await page.getByText(link).first().waitFor();
  await unharmed();
  await page.goto(`${head.url}#/demand`);
  await page.getByText(`${markup} in ${attribute}|${turned}`).first().waitFor();
  await unharmed();
  await page.goto(`${head.url}#/events`);
  for (const text of all) await page.getByText(`event ${text}`).first().waitFor();
  await unharmed();
  await page.goto(`${head.url}#/`);
  await page.getByText(`event ${turned}`).first().waitFor();
  await unharmed();
  await close();
});

test('an address that somebody sends runs nothing', async () => {
  for (const hash of [
    `#/jobs/${markup}`,
    `#/jobs?search=${encodeURIComponent(markup)}`,
    '#javascript:evil=1',
    `#/${frame}`,
  ]) {
    const { page, close } = await visit(browser, head, hash);
    assert.equal(await page.evaluate(() => 'evil' in window), false, hash);
    assert.equal(await page.locator('iframe, [data-evil], img[src*=evil]').count(), 0, hash);
    await close();
  }
});

function spoil({ cluster }: FakeHead): void {
  const [first, second, ...rest] = cluster.nodes;
  if (first === undefined || second === undefined) throw new Error('the fake head has too few nodes');
  const spoiled = {
    ...second,
    instance: `i-${markup}`,
    machine: frame,
    address: attribute,
    type: template,
    zone: turned,
    market: markup,
    jobs: [markup],
    launchedBecause: link,
    endsBecause: frame,
  };
  cluster.nodes = [first, spoiled, ...rest];
  const selectors = [[{ label: markup, operator: 'in' as const, values: [attribute, turned] }]];
  const request = { resources: { [frame]: 1 }, selectors, placement: [] };
  cluster.demand = {
    demand: {
      tasks: [{ request, count: 1 }],
      gangs: [{ id: markup, requests: [request], details: frame }],
      standing: [],
    },
    waiting: [{ demand: { kind: 'tasks', request, count: 1 }, for: [], until: Date.now() + 60_000, text: link }],
    infeasible: [],
  };
  for (const text of all)
    cluster.say('warn', 'MANTA_EVIL', `event ${text}`, { job: markup, instance: frame, type: link });
}
