// needs: cluster

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { root } from '../../scripts/docs/declared.ts';
import { blocksOf, isShell, pages, readPage } from './pages.ts';

/** Files that examples name, unless the page itself shows one: a block whose first line is `# NAME.yaml`. */
const files: Readonly<Record<string, string>> = {
  'cluster.yaml': `cluster_name: example
provider: {type: process}
max_workers: 4
head_node_type: head
available_node_types:
  head: {resources: {CPU: 0}, node_config: {}}
  worker: {resources: {CPU: 2}, max_workers: 4, node_config: {}}
`,
  'train.py': 'print("trained")\n',
};

/** What a reader must have seen when the commands of a page have run. */
const outcomes: Readonly<Record<string, readonly RegExp[]>> = {
  'README.md': [/^hello$/m, /^=+ Autoscaler status/m, /^demand: /m, /ticket=/, /makespan/i],
};

describe('the shell blocks of a page run in order on this machine', { concurrency: 2 }, () => {
  for (const page of pages) {
    const runnable = blocksOf(readPage(page)).filter(
      (block) => isShell(block) && block.needs.length === 0 && /\bmanta /.test(block.text),
    );
    if (runnable.length === 0) continue;
    test(page, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'manta-page-'));
      const shell = shellIn(folder);
      t.after(async () => {
        await shell('manta down -y; for name in "$MANTA_HOME"/clusters/*; do manta down -y -n "${name##*/}"; done');
        rmSync(folder, { recursive: true, force: true });
      });
      for (const [name, text] of Object.entries({ ...files, ...shownFiles(page) }))
        writeFileSync(join(folder, name), text);
      const { code, output } = await shell(runnable.map(({ text }) => text).join('\n'));
      assert.equal(code, 0, output);
      for (const outcome of outcomes[page] ?? []) assert.match(output, outcome);
      if (page !== 'README.md') return;
      const clusters = join(folder, '.manta/clusters');
      assert.deepEqual(existsSync(clusters) ? readdirSync(clusters) : [], [], 'the tour leaves nothing behind');
    });
  }
});

function shownFiles(page: string): Record<string, string> {
  return Object.fromEntries(
    blocksOf(readPage(page)).flatMap(({ text }) => {
      const name = /^# ([\w-]+\.(?:ya?ml|json|py))\n/.exec(text)?.[1];
      return name === undefined ? [] : [[name, text] as const];
    }),
  );
}

/** Runs shell in a folder that is the reader's home, with `manta` of this tree and a `python` that needs none. */
function shellIn(folder: string): (script: string) => Promise<{ code: number; output: string }> {
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  symlinkSync(join(root, 'bin'), join(folder, 'bin'));
  symlinkSync(join(root, 'bin/manta'), join(tools, 'manta'));
  writeFileSync(join(tools, 'python'), '#!/bin/sh\necho "ran $*"\n');
  chmodSync(join(tools, 'python'), 0o755);
  const path = [tools, dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
  const env = { PATH: path, HOME: folder, MANTA_HOME: join(folder, '.manta') };
  return (script) =>
    new Promise((resolve) => {
      const options = { cwd: folder, env, encoding: 'utf8', timeout: 120_000 } as const;
      const child = execFile('/bin/sh', ['-exc', script], options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : (child.exitCode ?? 1), output: stdout + stderr }),
      );
      child.stdin?.end();
    });
}
