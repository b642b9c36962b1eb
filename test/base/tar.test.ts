// needs: xz
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
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
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { archiveErrors } from '../../src/base/archive/errors.ts';
import { untar } from '../../src/base/archive/tar.ts';
import { fc } from '../property.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-tar-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
const fresh = (): string => join(root, String(count++));

interface Made {
  readonly name: string;
  readonly type?: string;
  readonly content?: string;
  readonly size?: number;
  readonly mode?: number;
  readonly link?: string;
}

/** An archive entry by entry, also such as no program would write. */
function tarOf(entries: readonly Made[], end = Buffer.alloc(1024)): Buffer {
  const blocks = entries.flatMap(({ name, type = '0', content = '', size, mode = 0o644, link = '' }) => {
    const bytes = Buffer.from(content);
    const head = Buffer.alloc(512);
    head.write(name, 0, 100);
    head.write(mode.toString(8).padStart(7, '0'), 100);
    head.write((size ?? bytes.length).toString(8).padStart(11, '0'), 124);
    head.write('        ', 148);
    head.write(type, 156);
    head.write(link, 157, 100);
    head.write('ustar\x0000', 257);
    head.write(
      `${head
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    return [head, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, end]);
}

async function unpackOf(bytes: Buffer, limits = {}): Promise<string> {
  const file = `${fresh()}.tar.gz`;
  const target = fresh();
  writeFileSync(file, gzipSync(bytes));
  await untar(file, target, 'gzip', limits, 'code.tar.gz');
  return target;
}

/** Nothing is left of one that was refused. */
async function refused(bytes: Buffer, words: RegExp, limits = {}): Promise<void> {
  const target = join(root, String(count + 1));
  await assert.rejects(unpackOf(bytes, limits), (error: Error) => {
    assert.match(error.message, words);
    assert.match((error as Error & { code: string }).code, /^MANTA_ARCHIVE_/);
    return true;
  });
  assert.ok(!existsSync(target) && !existsSync(`${target}.unpacking`));
}

/** A folder with a bit of everything. */
function sourceFolder(): string {
  const folder = fresh();
  const long = join(folder, 'd'.repeat(90), 'e'.repeat(90));
  mkdirSync(long, { recursive: true });
  mkdirSync(join(folder, 'empty'));
  writeFileSync(join(folder, 'run.sh'), '#!/bin/sh\n');
  chmodSync(join(folder, 'run.sh'), 0o755);
  writeFileSync(join(folder, 'nothing'), '');
  writeFileSync(join(folder, 'large'), Buffer.alloc(300_001, 'abc'));
  writeFileSync(join(long, `${'f'.repeat(120)} ä`), 'deep');
  return folder;
}

for (const [packing, format] of [
  ['gzip', 'gnu'],
  ['gzip', 'posix'],
  ['gzip', 'ustar'],
  ['xz', 'gnu'],
] as const)
  test(`what tar packed as ${format} with ${packing} comes out as it went in`, async () => {
    const source = sourceFolder();
    if (format === 'ustar') rmSync(join(source, 'd'.repeat(90)), { recursive: true });
    const file = `${fresh()}.tar`;
    execFileSync('tar', [`--format=${format}`, `--${packing}`, '-cf', file, '-C', source, '.']);
    const target = fresh();
    await untar(file, target, packing);
    execFileSync('diff', ['-r', source, target]);
    assert.equal(statSync(join(target, 'run.sh')).mode & 0o777, 0o755);
    assert.ok(statSync(join(target, 'empty')).isDirectory());
  });

test('links, devices and pipes are left out, and nothing is written through them', async () => {
  const outside = fresh();
  mkdirSync(outside);
  const target = await unpackOf(
    tarOf([
      { name: 'here', type: '2', link: outside },
      { name: 'here/file', content: 'inside' },
      { name: 'hard', type: '1', link: '/etc/passwd' },
      { name: 'device', type: '3' },
      { name: 'disk', type: '4' },
      { name: 'pipe', type: '6' },
      { name: 'plain', content: 'plain', mode: 0o4777 },
    ]),
  );
  assert.deepEqual(readdirSync(target).sort(), ['here', 'plain']);
  assert.equal(readFileSync(join(target, 'here/file'), 'utf8'), 'inside');
  assert.deepEqual(readdirSync(outside), []);
  assert.equal(statSync(join(target, 'plain')).mode & 0o7777, 0o777);
});

test('what tar made of links is left out', async () => {
  const source = fresh();
  mkdirSync(source);
  writeFileSync(join(source, 'a'), 'a');
  linkSync(join(source, 'a'), join(source, 'b'));
  symlinkSync('/etc', join(source, 'etc'));
  const file = `${fresh()}.tgz`;
  execFileSync('tar', ['-czf', file, '-C', source, 'a', 'b', 'etc']);
  const target = fresh();
  await untar(file, target, 'gzip');
  assert.deepEqual(readdirSync(target), ['a']);
});

test('an entry that leads out of the folder, or stands in the way of another, is refused', async () => {
  for (const name of ['../out', '/etc/x', 'a/../../out', 'a\\b', 'C:/x', './../out'])
    await refused(tarOf([{ name, content: 'x' }]), /points outside the folder/);
  const long = '../'.repeat(50);
  await refused(
    tarOf([
      { name: '././@LongLink', type: 'L', content: `${long}x\0` },
      { name: 'x', content: 'x' },
    ]),
    /points outside the folder/,
  );
  await refused(
    tarOf([
      { name: 'pax', type: 'x', content: '16 path=../../x\n' },
      { name: 'x', content: 'x' },
    ]),
    /points outside the folder/,
  );
  await refused(
    tarOf([
      { name: 'a', content: 'x' },
      { name: 'a/b', content: 'x' },
    ]),
    /conflicts with another entry/,
  );
});

test('limits hold against what really comes out', async () => {
  const files = Array.from({ length: 20 }, (_, at) => ({ name: `f${at}`, content: 'x'.repeat(1_000) }));
  await refused(tarOf(files), /more than 10 entries \(11\)/, { entries: 10 });
  await refused(tarOf(files), /unpacks to more than 10000 bytes/, { bytes: 10_000 });
  // What follows the end of the archive is unpacked too.
  await refused(tarOf([], Buffer.alloc(101 * 2 ** 20)), /more than 200 times its size/);
  await refused(tarOf([{ name: 'pax', type: 'x', size: 2 ** 30 }]), /a header of 1073741824 bytes/);
});

test('an archive that is cut, empty, or none is told from one that is whole', async () => {
  const whole = tarOf([{ name: 'a', content: 'x'.repeat(2_000) }]);
  await refused(whole.subarray(0, 1_000), /middle of an entry/);
  await refused(Buffer.alloc(0), /empty/);
  await refused(Buffer.from('no archive at all'.repeat(50)), /wrong checksum|invalid number/);
  await refused(tarOf([{ name: 'a', type: 'S' }]), /sparse/);
  const file = `${fresh()}.tar.xz`;
  writeFileSync(file, 'no xz');
  await assert.rejects(untar(file, fresh(), 'xz'), (error) => archiveErrors.NotAnArchive.is(error));
  execFileSync('sh', ['-c', `head -c 100000 /dev/urandom | xz -c | head -c 50000 >${file}`]);
  await assert.rejects(untar(file, fresh(), 'xz'), (error) => archiveErrors.NotAnArchive.is(error));
  // The sum that a damaged file does not have.
  writeFileSync(`${file}.gz`, gzipSync(whole).subarray(0, -6));
  await assert.rejects(untar(`${file}.gz`, fresh(), 'gzip'), (error) => archiveErrors.NotAnArchive.is(error));
});

test('a head without xz says so', async (t) => {
  const path = process.env['PATH'];
  t.after(() => (process.env['PATH'] = path));
  const file = `${fresh()}.tar.xz`;
  writeFileSync(file, '');
  process.env['PATH'] = root;
  await assert.rejects(untar(file, fresh(), 'xz'), (error) => archiveErrors.NoXz.is(error));
});

test('damage anywhere in an archive never writes outside of it and never hangs', async () => {
  const whole = tarOf([
    { name: 'dir/', type: '5' },
    { name: 'pax', type: 'x', content: '14 path=dir/b\n' },
    { name: 'a', content: 'hello' },
    { name: '././@LongLink', type: 'L', content: 'dir/long\0' },
    { name: 'c', content: 'x'.repeat(700) },
  ]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      fc.nat(whole.length),
      async (changes, cut) => {
        const bytes = Buffer.from(whole);
        for (const [at, byte] of changes) bytes[at] = byte;
        // The sum in each header is set right, so that the rest of it is read.
        for (let at = 0; at + 512 <= bytes.length; at += 512)
          if (bytes.toString('latin1', at + 257, at + 262) === 'ustar') {
            bytes.write('        ', at + 148);
            const sum = bytes.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
            bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148);
          }
        const before = readdirSync(root).length;
        await unpackOf(bytes.subarray(0, Math.max(cut, 600)), { bytes: 1 << 20 }).then(
          () => assert.equal(readdirSync(root).length, before + 2),
          (error: Error & { code: string }) => assert.match(error.code, /^MANTA_ARCHIVE_/),
        );
      },
    ),
    { numRuns: 200 },
  );
});
