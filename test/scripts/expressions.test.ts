import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../scripts/expressions.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'manta-expressions-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function checked(name: string, text: string): Promise<{ code: number; out: string }> {
  const file = join(folder, name);
  writeFileSync(file, text);
  return new Promise((resolve) =>
    execFile(process.execPath, [script, file], (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out: out + err }),
    ),
  );
}

test('a quadratic expression fails the check with its place and a text that it is slow on', async () => {
  const { code, out } = await checked(
    'quadratic.ts',
    'export const a = 1;\nexport const b = (t: string) => /\\s+$/.test(t);\n',
  );
  assert.equal(code, 1, out);
  assert.match(
    out,
    /quadratic\.ts:2: \/\\s\+\$\/\n {4}takes more than linear time: 2nd degree polynomial, for example on /,
  );
});

test('so does one that only trying can find, because it looks ahead', async () => {
  const { code, out } = await checked('ahead.ts', 'export const slow = /(?!x)\\w+(?=;)!/;\n');
  assert.equal(code, 1, out);
  assert.match(out, /ahead\.ts:1: .*\n {4}takes more than linear time: 2nd degree polynomial \(fuzz\)/);
});

test('linear expressions, divisions and comments pass', async () => {
  const text =
    "const a = 4 / 2 / 1; // /\\s+$/\nexport const b = [a, /^[a-z]+\\s*=\\s*\\d+$/, '/\\s+$/', /<[^<>]{1,60}>/g];\n";
  assert.deepEqual(await checked('linear.tsx', text), { code: 0, out: '' });
});

test('an expression that is made from text needs a reason', async () => {
  const { code, out } = await checked('made.ts', 'export const from = (t: string) => new RegExp(t);\n');
  assert.equal(code, 1);
  assert.match(out, /made\.ts:1: makes an expression from text/);
});
