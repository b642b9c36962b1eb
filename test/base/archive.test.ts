import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { unzip, writeZip } from '../../src/base/archive/archive.ts';
import { archiveErrors } from '../../src/base/archive/errors.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-zip-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

/** A zip of one file whose name is then overwritten byte for byte: what an honest writer would refuse to make. */
async function zipNamed(name: string, content: string | Buffer = 'x'): Promise<string> {
  const source = join(root, `source${count}`);
  const zip = join(root, `zip${count++}.zip`);
  writeFileSync(source, content);
  const placeholder = 'p'.repeat(Buffer.byteLength(name));
  await writeZip([{ name: placeholder, path: source, mode: 0o644 }], zip);
  const bytes = readFileSync(zip);
  for (let at = bytes.indexOf(placeholder); at >= 0; at = bytes.indexOf(placeholder, at)) bytes.write(name, at);
  writeFileSync(zip, bytes);
  return zip;
}
const target = (): string => join(root, `out${count++}`);

test('files, modes and empty folders come out as they went in', async () => {
  const script = join(root, 'run.sh');
  writeFileSync(script, '#!/bin/sh\n');
  chmodSync(script, 0o755);
  const zip = join(root, 'good.zip');
  await writeZip(
    [
      { name: 'bin/run.sh', path: script, mode: 0o104755 },
      { name: 'empty', mode: 0o40755 },
    ],
    zip,
  );
  const out = target();
  await unzip(zip, out);
  assert.equal(statSync(join(out, 'bin/run.sh')).mode & 0o7777, 0o755, 'set-uid does not survive');
  assert.deepEqual(readdirSync(join(out, 'empty')), []);
});

test('no entry leaves the folder', async () => {
  for (const name of ['../evil', 'a/../../evil', '/tmp/evil', '..\\evil', 'a\\..\\..\\evil', 'C:/evil', '..']) {
    const out = target();
    await assert.rejects(
      unzip(await zipNamed(name), out),
      (error) => archiveErrors.Unsafe.is(error) || archiveErrors.NotAnArchive.is(error),
      name,
    );
    assert.ok(!existsSync(out), 'nothing is left of a refused archive');
    assert.ok(!existsSync(join(root, 'evil')));
  }
});

test('an archive that unpacks to far more than it is, or to too many files, is refused', async () => {
  const bomb = await zipNamed('zeros', Buffer.alloc(120 << 20));
  await assert.rejects(unzip(bomb, target()), (error) => archiveErrors.TooLarge.is(error));
  await assert.rejects(unzip(await zipNamed('file', 'x'.repeat(5_000)), target(), { bytes: 1_000 }), (error) =>
    archiveErrors.TooLarge.is(error),
  );
  await assert.rejects(unzip(join(root, 'good.zip'), target(), { entries: 1 }), (error) =>
    archiveErrors.TooLarge.is(error),
  );
});

test('a refusal names the package and the entry, and no path of this machine', async () => {
  const path = join(root, 'conflict');
  const source = join(root, 'one-byte');
  writeFileSync(source, 'x');
  await writeZip(
    ['a', 'a/b'].map((name) => ({ name, path: source, mode: 0o644 })),
    path,
  );
  await assert.rejects(unzip(path, target(), {}, 'code.zip'), {
    message: "refused to unpack 'code.zip' because of its entry 'a/b': it conflicts with another entry",
  });
  const damaged = await zipNamed('file', Array.from({ length: 5_000 }, (_, i) => String(i)).join(' '));
  const bytes = readFileSync(damaged);
  bytes.fill(0xff, 100, 2_000);
  writeFileSync(damaged, bytes);
  await assert.rejects(unzip(damaged, target(), {}, 'code.zip'), (error: Error) => {
    assert.match(error.message, /^'code\.zip' is not a valid archive: entry 'file': /);
    return true;
  });
});

test('what is no archive, or a cut one, is told apart', async () => {
  const junk = join(root, 'junk.zip');
  writeFileSync(junk, 'not a zip at all');
  await assert.rejects(unzip(junk, target()), (error) => archiveErrors.NotAnArchive.is(error));
  const cut = await zipNamed('file', 'x'.repeat(10_000));
  writeFileSync(cut, readFileSync(cut).subarray(0, 60));
  await assert.rejects(unzip(cut, target()), (error) => archiveErrors.NotAnArchive.is(error));
});
