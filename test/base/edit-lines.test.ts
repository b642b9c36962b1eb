// needs: posix-shells, mounts
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { editLinesText, literally } from '../../src/base/files/edit-lines.ts';
import { ShellBed, shells } from './shell-bed.ts';

const remove = (pattern: string): string => editLinesText({ target: '.ssh/authorized_keys', pattern });
const add = (pattern: string, line: string): string => editLinesText({ target: '.ssh/authorized_keys', pattern, line });

for (const shell of shells)
  describe(`a file of the user's that is edited in ${shell}`, () => {
    const bedOf = (t: TestContext, text?: string) => {
      const bed = new ShellBed(t, shell);
      const file = join(bed.home, '.ssh', 'authorized_keys');
      if (text !== undefined) {
        mkdirSync(join(bed.home, '.ssh'));
        writeFileSync(file, text);
      }
      return { bed, file, text: () => readFileSync(file, 'utf8') };
    };
    const nothingElse = (file: string): void => assert.deepEqual(readdirSync(join(file, '..')), ['authorized_keys']);

    test('loses the lines that match, keeps the others, and gets the new one at its end', (t) => {
      const { bed, file, text } = bedOf(t, 'a one\nb two\nc one\n');
      assert.deepEqual(bed.run(remove('one')), { code: 0, stdout: '', stderr: '' });
      assert.equal(text(), 'b two\n');
      assert.equal(bed.run(add('thr*ee', 'd three')).code, 0);
      assert.equal(text(), 'b two\nd three\n');
      assert.equal(bed.run(add('two', 'two, new')).code, 0);
      assert.equal(text(), 'd three\ntwo, new\n');
      nothingElse(file);
    });

    test('is empty when no line is left', (t) => {
      const { bed, text } = bedOf(t, 'a one\n');
      assert.equal(bed.run(remove('one')).code, 0);
      assert.equal(text(), '');
    });

    test('is not written when it is as it should be', (t) => {
      const { bed, file } = bedOf(t, 'a one\nb two\n');
      const before = statSync(file).ino;
      assert.equal(bed.run(add('b', 'b two')).code, 0);
      assert.equal(bed.run(remove('zzz')).code, 0);
      assert.equal(statSync(file).ino, before);
    });

    test('is made, for its user only, where there is none', (t) => {
      const { bed, file, text } = bedOf(t);
      assert.equal(bed.run(remove('one')).code, 0);
      assert.equal(existsSync(join(bed.home, '.ssh')), false);
      assert.equal(bed.run(add('one', 'a one')).code, 0);
      assert.equal(text(), 'a one\n');
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
    });

    test('whose last line has no end does not run into the new one', (t) => {
      const { bed, text } = bedOf(t, 'a one\nb two');
      assert.equal(bed.run(add('three', 'c three')).code, 0);
      assert.equal(text(), 'a one\nb two\nc three\n');
    });

    test('keeps its owner and its mode', (t) => {
      const { bed, file } = bedOf(t, 'a one\nb two\n');
      for (const mode of [0o400, 0o640, 0o644]) {
        writeFileSync(file, 'a one\nb two\n');
        chownSync(file, 1234, 2345);
        chmodSync(file, mode);
        assert.equal(bed.run(remove('one')).code, 0);
        const { uid, gid, mode: now } = statSync(file);
        assert.deepEqual([uid, gid, now & 0o777], [1234, 2345, mode]);
      }
    });

    test('that links lead to is edited where it is, and the links stay', (t) => {
      const { bed, file } = bedOf(t);
      mkdirSync(join(bed.home, '.ssh'));
      mkdirSync(join(bed.home, 'kept safe'));
      const real = join(bed.home, 'kept safe', 'keys');
      writeFileSync(real, 'a one\nb two\n');
      symlinkSync('../kept safe/next', file);
      symlinkSync('keys', join(bed.home, 'kept safe', 'next'));
      assert.equal(bed.run(remove('one')).code, 0);
      assert.equal(readFileSync(real, 'utf8'), 'b two\n');
      assert.equal(lstatSync(real).isFile(), true);
      assert.equal(readlinkSync(file), '../kept safe/next');
    });

    test('stays as it was on a full disk, however much room was left', (t) => {
      const { bed } = bedOf(t);
      const pad = 'x'.repeat(100);
      const before = `mkdir .ssh; i=0; while [ $i -lt 200 ]; do echo "$i ${pad}"; i=$((i + 1)); done >.ssh/authorized_keys; sync; cat /dev/zero >fill 2>/dev/null; truncate -s "-$FREE" fill; :`;
      const after = "grep -c '' .ssh/authorized_keys; grep -c -e '^100 ' -e new .ssh/authorized_keys; ls -A .ssh";
      const outcomes = new Set<string>();
      for (let free = 0; free <= 8; free++) {
        const { code, stdout, stderr } = bed.runOnDisk(
          24,
          before.replace('$FREE', String(free * 4096)),
          add('^100 ', 'the new line'),
          after,
        );
        assert.ok(code === 0 || code === 1, `${code} ${stderr}`);
        if (code === 1) assert.match(stderr, /'\.ssh\/authorized_keys' was left as it was/);
        assert.equal(stdout, '200\n1\nauthorized_keys\n');
        outcomes.add(`${code}`);
      }
      assert.deepEqual([...outcomes].sort(), ['0', '1'], 'both a full disk and one with room were met');
    });

    test('stays as it was where grep, the disk or the last step fails', (t) => {
      const { bed, text, file } = bedOf(t, 'a one\nb two\nc three\n');
      const cases: readonly (readonly [string, string])[] = [
        ['grep', 'exit 2'],
        // Says that all is well, and has lost a line.
        ['grep', 'case "$*" in *-v*) command -p grep "$@" | head -n 1 ;; *) PATH=/usr/bin:/bin exec grep "$@" ;; esac'],
        ['sync', 'exit 1'],
        ['mv', 'exit 1'],
        ['chown', 'exit 1'],
        ['chmod', 'exit 1'],
      ];
      for (const [name, program] of cases) {
        const own = new ShellBed(t, shell);
        mkdirSync(join(own.home, '.ssh'));
        writeFileSync(join(own.home, '.ssh', 'authorized_keys'), text());
        own.program(name, program);
        const { code, stderr } = own.run(remove('one'));
        assert.equal(code, 1, `${name}: ${program}`);
        assert.match(stderr, /was left as it was/);
        assert.equal(readFileSync(join(own.home, '.ssh', 'authorized_keys'), 'utf8'), text());
        nothingElse(join(own.home, '.ssh', 'authorized_keys'));
      }
      assert.equal(bed.run(remove('one')).code, 0);
      nothingElse(file);
    });

    test('loses no line when many edit it at once, and no draft of a killed one stays', async (t) => {
      const { bed, file, text } = bedOf(t, 'first\n');
      writeFileSync(`${file}.manta-draft.99999`, 'half');
      const words = Array.from({ length: 12 }, (_, index) => `line-${index};`);
      await Promise.all(
        words.map(async (word) => {
          const [name = '', ...rest] = shell.split(' ');
          const child = spawn(name, [...rest, '-s'], { env: { ...process.env, HOME: bed.home } });
          child.stdin.end(add(word, word));
          assert.deepEqual(await once(child, 'exit'), [0, null]);
        }),
      );
      assert.deepEqual(text().split('\n').sort(), ['', 'first', ...words].sort());
      nothingElse(file);
    });
  });

/** A crontab that keeps its table in a file, with words of Debian's. */
const standInCrontab = `t="$HOME/table"
case $1 in
-l) [ -e "$t" ] || { echo "no crontab for me" >&2; exit 1; }; cat "$t" ;;
-r) rm "$t" ;;
-) cat >"$t.new" && mv "$t.new" "$t" ;;
*) exit 9 ;;
esac`;

for (const shell of shells)
  describe(`the table of cron that is edited in ${shell}`, () => {
    const mark = `${literally('# manta a.b')}$`;
    const line = '@reboot sh boot # manta a.b';
    const addLine = editLinesText({ target: 'crontab', pattern: mark, line });
    const removeLine = editLinesText({ target: 'crontab', pattern: mark });

    test('is made, keeps the lines of others, and goes with its last line', (t) => {
      const bed = new ShellBed(t, shell);
      bed.program('crontab', standInCrontab);
      const table = join(bed.home, 'table');
      assert.equal(bed.run(removeLine).code, 0);
      assert.equal(bed.run(addLine).code, 0);
      assert.equal(readFileSync(table, 'utf8'), `${line}\n`);
      assert.equal(bed.run(removeLine).code, 0);
      assert.equal(existsSync(table), false);
      const others = '# my own\n\n5 * * * * x # manta a.bc\n6 * * * * x # manta axb\n';
      writeFileSync(table, others);
      assert.equal(bed.run(addLine).code, 0);
      assert.equal(bed.run(addLine).code, 0);
      assert.equal(readFileSync(table, 'utf8'), `${others}${line}\n`);
      assert.equal(bed.run(removeLine).code, 0);
      assert.equal(readFileSync(table, 'utf8'), others);
    });

    test('stays as it was when it cannot be read', (t) => {
      const bed = new ShellBed(t, shell);
      bed.program(
        'crontab',
        `case $1 in -l) head -n 1 "$HOME/table"; echo 'read error' >&2; exit 1 ;; esac\n${standInCrontab}`,
      );
      writeFileSync(join(bed.home, 'table'), '1 * * * * a\n2 * * * * b\n');
      const { code, stderr } = bed.run(addLine);
      assert.equal(code, 1);
      assert.match(stderr, /'crontab' was left as it was/);
      assert.equal(readFileSync(join(bed.home, 'table'), 'utf8'), '1 * * * * a\n2 * * * * b\n');
    });
  });
