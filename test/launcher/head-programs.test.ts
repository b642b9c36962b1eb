// needs: posix-shells, mounts
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readShell, type ShellParameters, shellCommand } from '../../src/base/shell/shell-file.ts';
import { bootScript, reloadText, startText } from '../../src/state/mantad/boot-entry.ts';
import { folderOnHead } from '../../src/state/state-folder.ts';
import { type Said, ShellBed, shells } from '../base/shell-bed.ts';
import { until } from '../contract/waiting.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));
const folder = folderOnHead('lab').path;
const script = bootScript('lab');
const read = (file: string): string => readShell(new URL(`file://${source}/${file}.sh`));

for (const shell of shells)
  describe(`on a head whose sh is ${shell}`, () => {
    const openBed = (t: TestContext) => {
      const bed = new ShellBed(t, shell);
      const run = (file: string, parameters: ShellParameters = {}, words: readonly string[] = [], input = ''): Said =>
        bed.run(`${input === '' ? ':' : input} | ${shellCommand(read(file), parameters, words)}\n`);
      const at = (path: string): string => join(bed.home, path);
      return { bed, run, at, text: (path: string): string => readFileSync(at(path), 'utf8') };
    };
    const good = ({ code, stdout, stderr }: Said): string => {
      assert.deepEqual([code, stderr], [0, '']);
      return stdout;
    };

    test("a cluster's folder is written, keeps the host keys it has, and is removed", (t) => {
      const { run, at, text } = openBed(t);
      const put = (record: string, credential: string, ...keys: string[]): string =>
        good(run('launcher/up/put-folder', { folder, record, credential }, keys));
      put('{"a": "it\'s"}', 'secret', 'h1', 'key one\n');
      assert.equal(statSync(at(`${folder}/credential`)).mode & 0o777, 0o600);
      put('{"a": 2}', '', 'h1', 'another key\n', 'h2', 'key two\n');
      assert.deepEqual([text(`${folder}/cluster.json`), text(`${folder}/hosts/h1`)], ['{"a": 2}', 'key one\n']);
      assert.equal(existsSync(at(`${folder}/credential`)), false);
      good(run('launcher/nodes/store-pin', { file: `${folder}/hosts/h1`, text: 'accepted key\n' }));
      assert.equal(text(`${folder}/hosts/h1`), 'accepted key\n');
      assert.equal(good(run('launcher/down/remove-folder', { folder })), '');
      assert.equal(existsSync(at(folder)), false);
    });

    test('a script comes whole or not at all', (t) => {
      const { run, at } = openBed(t);
      const copy = (bytes: number): Said =>
        run('launcher/exec/copy-script', { name: 'a b.py', mode: 700, bytes, fresh: '.new' }, [], 'printf 12345');
      assert.equal(copy(6).code, 1);
      assert.deepEqual(readdirSync(at('')), []);
      good(copy(5));
      assert.deepEqual([readdirSync(at('')), statSync(at('a b.py')).mode & 0o777], [['a b.py'], 0o700]);
    });

    test('a runtime comes whole or not at all, and of several Nodes one that is new enough is found', (t) => {
      const { bed, run, at, text } = openBed(t);
      writeFileSync(at('manta.js'), 'first');
      const archive = at('archive');
      execFileSync('tar', ['-czf', archive, '-C', bed.home, 'manta.js']);
      const ship = (input: string): Said =>
        run('launcher/head/ship/ship-manta', { runtimes: 'run', runtime: '0.2.0-ab' }, [], input);
      assert.notEqual(ship('printf broken').code, 0);
      assert.deepEqual(readdirSync(at('run')), []);
      for (let times = 0; times < 2; times += 1) good(ship(`cat '${archive}'`));
      assert.deepEqual([readdirSync(at('run')), text('run/0.2.0-ab/manta.js')], [['0.2.0-ab'], 'first']);

      const find = (oldest: number): string => good(run('launcher/head/ship/find-node', { runtimes: 'run', oldest }));
      for (const release of [18, 99]) {
        mkdirSync(at(`run/node-${release}`));
        writeFileSync(at(`run/node-${release}/node`), `#!/bin/sh\necho ${release}\n`, { mode: 0o700 });
      }
      assert.equal(find(99), `manta-node ${at('run/node-99/node')}\n`);
      assert.equal(find(1000), '');
    });

    test('an upgrade keeps what the old version is started by, once, and says how it failed', (t) => {
      const { run, at, text } = openBed(t);
      mkdirSync(at(folder), { recursive: true });
      const write = (line: string): string =>
        good(run('launcher/head/ship/boot-script', { boot_script: script, line }));
      const keep = (upgrade: string): string =>
        good(run('launcher/head/ship/keep-old', { folder, boot_script: script, runtime: '0.3.0-cd', upgrade }));
      write('exec old');
      keep('{"from": 1}');
      write('exec 0.3.0-cd');
      keep('{"from": 2}');
      assert.equal(text(`${script}.before`), '#!/bin/sh\nexec old\n');
      assert.equal(text(`${folder}/upgrade.json`), '{"from": 1}');
      execFileSync('mv', [at(`${folder}/upgrade.json`), at(`${folder}/upgrade-failed.json`)]);
      assert.equal(good(run('launcher/head/ship/wait-upgrade', { folder, boot_script: script })), '{"from": 1}');
      assert.equal(existsSync(at(`${script}.before`)), false);
    });

    test('mantad is started by its script, found, told to read its files again, and stopped', async (t) => {
      const { bed, run, at, text } = openBed(t);
      const prelude = read('state/mantad/mantad-prelude');
      const find = (): string =>
        good(
          bed.run(
            shellCommand(`${prelude}${read('client/find-mantad')}`, {
              folder,
              boot_script: script,
              start: startText('lab'),
            }),
          ),
        );
      mkdirSync(at(`${folder}/tokens`), { recursive: true });
      assert.equal(find(), '');
      writeFileSync(at(`${folder}/cluster.json`), '{"ended": {"at": 1}}');
      assert.equal(find(), 'ended\n{"ended": {"at": 1}}');
      writeFileSync(at(`${folder}/cluster.json`), '{}');
      assert.equal(find(), 'unserved\n');

      writeFileSync(at(`${folder}/tokens/owner`), 'a-token');
      writeFileSync(at('mantad.js'), pretended(at(folder)));
      good(run('launcher/head/ship/boot-script', { boot_script: script, line: `exec sh '${at('mantad.js')}' lab` }));
      const [, token, serving] = /^started\n(token .*)\n(.*)\n$/.exec(find()) ?? [];
      const pid = /^\{"pid": (\d+)\}$/.exec(serving ?? '')?.[1] ?? '';
      t.after(() => bed.run(`kill -9 ${pid} 2>/dev/null\n`));
      assert.equal(token, 'token a-token');
      good(run('launcher/head/ship/wait-supervisor', { folder }));
      good(bed.run(reloadText('lab')));
      await until('mantad has read its files again', () => existsSync(at(`${folder}/told`)));
      assert.equal(text(`${folder}/told`), 'again\n');
      run('launcher/head/ship/stop-processes', {}, [pid]);
      assert.equal(bed.run(`kill -0 ${pid} 2>/dev/null && ! grep -q 'State:.Z' /proc/${pid}/status\n`).code, 1);
    });

    test('the lock of the head is renewed by the machine that has it, and by no other', (t) => {
      const { run, at, text } = openBed(t);
      writeFileSync(at('lock'), 'mine 1 me\n');
      const renew = (id: string): string =>
        good(run('launcher/head/lock-renew', { lock: 'lock', id, who: 'me at home' }));
      assert.equal(renew('mine'), '');
      assert.match(text('lock'), /^mine \d{10,} me at home\n$/);
      assert.equal(renew('other'), 'lost me at home\n');
    });

    test('folders are made below the home, and those of file mounts go', (t) => {
      const { bed, run, at } = openBed(t);
      bed.program('rsync', ':');
      good(run('bringup/sync/make-folders', {}, ['~/a b/c', at('d'), '~']));
      assert.deepEqual([existsSync(at('a b/c')), existsSync(at('d'))], [true, true]);
      assert.equal(good(run('bringup/sync/remove-staging', {}, ['a b', at('d'), 'missing'])), '');
      assert.deepEqual(readdirSync(at('')), []);
    });
  });

/** Looks like mantad to those who ask; ends by itself after a minute. */
const pretended = (folder: string): string => `cd '${folder}' || exit 1
trap 'echo again >told.new; mv told.new told' HUP
for name in mantad.lock supervisor.lock mantad.json; do echo "{\\"pid\\": $$}" >"$name"; done
i=0
while [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done
`;
