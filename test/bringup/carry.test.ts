import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { thisHost } from '../../src/base/this-host.ts';
import { bringupErrors } from '../../src/bringup/errors.ts';
import { cargoFolder, carryFiles, removeCargoText } from '../../src/bringup/sync/carry.ts';

const signal = new AbortController().signal;
const here = { kind: 'host' } as const;

function bed(t: TestContext) {
  const id = `test-${randomBytes(6).toString('hex')}`;
  const source = mkdtempSync(join(tmpdir(), 'manta-carry-'));
  const target = cargoFolder(id);
  t.after(() => {
    for (const folder of [source, target]) rmSync(folder, { recursive: true, force: true });
  });
  const cargo = (name: string, content: Buffer) => {
    writeFileSync(join(source, name), content);
    return { path: join(source, name), bytes: content.length };
  };
  return { id, target, cargo };
}

test('large files come to a node whole, for its user alone, and what nobody wants any more goes', async (t) => {
  const { id, target, cargo } = bed(t);
  const content = randomBytes(3 << 20);
  const one = cargo("_it's one.zip", content);
  const two = cargo('two.whl', Buffer.from('two'));
  await carryFiles(thisHost(), id, here, [one, two], signal);
  assert.ok(readFileSync(join(target, "_it's one.zip")).equals(content));
  assert.equal(statSync(target).mode & 0o777, 0o700);
  const { mtimeMs } = statSync(join(target, 'two.whl'));
  await carryFiles(thisHost(), id, here, [two], signal);
  assert.deepEqual(readdirSync(target), ['two.whl']);
  assert.equal(statSync(join(target, 'two.whl')).mtimeMs, mtimeMs, 'what is there is not sent again');
  await thisHost().sh(removeCargoText(id), { signal });
  assert.ok(!existsSync(target));
});

test('a file that came in part is not there', async (t) => {
  const { id, target, cargo } = bed(t);
  const { path, bytes } = cargo('short.zip', Buffer.from('short'));
  await assert.rejects(carryFiles(thisHost(), id, here, [{ path, bytes: bytes + 1 }], signal), {
    code: bringupErrors.NotCarried.code,
    message: /it arrived incomplete/,
  });
  assert.deepEqual(readdirSync(target), []);
});

test('a folder that somebody else has put there is not used', async (t) => {
  const { id, target, cargo } = bed(t);
  const elsewhere = `${target}-elsewhere`;
  mkdirSync(elsewhere);
  t.after(() => rmSync(elsewhere, { recursive: true, force: true }));
  symlinkSync(elsewhere, target);
  await assert.rejects(carryFiles(thisHost(), id, here, [cargo('a.zip', Buffer.from('a'))], signal), {
    message: /belongs to another user/,
  });
  assert.deepEqual(readdirSync(elsewhere), []);
});
