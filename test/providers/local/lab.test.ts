// needs: hosts

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { labProblem, openLab } from '../../../lab/lab.ts';

const program = fileURLToPath(new URL('./inside-lab.ts', import.meta.url));

test('own machines are claimed over SSH as the contract says', { skip: labProblem() ?? false }, async (t) => {
  const lab = await openLab({ hosts: 4 });
  t.after(() => lab.close());
  const { code, stdout, stderr } = await lab.laptop.exec(['node', '--test', program], {
    env: { LAB_HOSTS: lab.hosts.map(({ name }) => name).join(' ') },
    within: 240_000,
  });
  for (const [, line = ''] of stdout.matchAll(/ℹ (.* ms)$/gm)) t.diagnostic(line);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /ℹ fail 0/);
});
