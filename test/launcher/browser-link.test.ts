import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeLinkPage } from '../../src/launcher/dashboard/browser-link.ts';

test('the way for a browser is a file of its user alone, and the last one only', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-way-'));
  t.after(() => rmSync(home, { recursive: true }));
  // One that others may read must not become the next.
  writeFileSync(join(home, 'open.html'), '', { mode: 0o666 });
  for (const key of ['first', 'second&"<']) {
    const file = writeLinkPage(home, `http://all-clusters.localhost:8265/?key=${key}`);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!file.includes(key));
  }
  assert.deepEqual(readdirSync(home), ['open.html']);
  const text = readFileSync(join(home, 'open.html'), 'utf8');
  assert.match(text, /content="0;url=http:\/\/all-clusters.localhost:8265\/\?key=second&#38;&#34;&#60;"/);
});
