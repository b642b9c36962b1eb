// needs: posix-shells, mounts

/** What runs on machines of a cloud, in every shell that their `sh` may be. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { readShell, type ShellParameters, shellProgram } from '../../src/base/shell/shell-file.ts';
import { ShellBed, shells } from '../base/shell-bed.ts';

const source = new URL('../../src/providers/', import.meta.url);
const program = (file: string, parameters: ShellParameters): string =>
  shellProgram(readShell(new URL(`${file}.sh`, source)), parameters);

/** A machine whose metadata server answers with what the file of the path says; calls that delete are written down. */
function machine(t: TestContext, shell: string, said: Readonly<Record<string, string>>): ShellBed {
  const bed = new ShellBed(t, shell);
  for (const [path, text] of Object.entries(said)) {
    mkdirSync(join(bed.home, 'said', path, '..'), { recursive: true });
    writeFileSync(join(bed.home, 'said', path), text);
  }
  bed.program(
    'curl',
    'for url; do :; done\ncase "$*" in *DELETE*) echo "$*" >>"$HOME/deleted"; exit ;; esac\ncat "$HOME/said/$url"',
  );
  bed.program('sleep', 'rm -rf "$HOME/said/instance/attributes"');
  return bed;
}

const deleted = ({ home }: ShellBed): string =>
  existsSync(join(home, 'deleted')) ? readFileSync(join(home, 'deleted'), 'utf8') : '';

for (const shell of shells)
  describe(`in ${shell}`, () => {
    test('the key of the cluster is added once, after the keys that are there', (t) => {
      const bed = new ShellBed(t, shell);
      // A machine that has this user, whose files belong to the user who runs the test.
      bed.program('id', 'exit 0');
      bed.program('getent', `echo ubuntu:x:1:1::${bed.home}:/bin/sh`);
      bed.program('chown', 'exit 0');
      mkdirSync(join(bed.home, '.ssh'));
      const file = join(bed.home, '.ssh', 'authorized_keys');
      writeFileSync(file, 'ssh-rsa BBBB laptop');
      const login = { login_user: 'ubuntu', login_key: 'ssh-ed25519 AAAA manta' };
      for (let times = 0; times < 2; times++)
        assert.deepEqual(bed.run(program('aws/launch/authorize-key', login)), { code: 0, stdout: '', stderr: '' });
      assert.equal(readFileSync(file, 'utf8'), 'ssh-rsa BBBB laptop\nssh-ed25519 AAAA manta\n');
      assert.equal(statSync(file).mode & 0o777, 0o600);
    });

    test('an instance of EC2 prints each notice of its end, and nothing while there is none', (t) => {
      const notices = program('aws/list/instance-notices', { imds: 'imds' });
      assert.deepEqual(machine(t, shell, { 'imds/api/token': 'secret' }).run(notices).stdout, '');
      const action = '{"action": "terminate",\n "time": "2026-01-01T00:00:00Z"}';
      const bed = machine(t, shell, { 'imds/api/token': 'secret', 'imds/meta-data/spot/instance-action': action });
      assert.equal(bed.run(notices).stdout, `notice spot/instance-action ${action.replace('\n', '')}\n`);
    });

    test('a machine of Google prints each notice of its end, and nothing while there is none', (t) => {
      const notices = program('google/list/google-notices', { metadata: '.' });
      const calm = { './instance/preempted': 'FALSE\n', './instance/maintenance-event': 'NONE' };
      assert.equal(machine(t, shell, calm).run(notices).stdout, '');
      const bed = machine(t, shell, { ...calm, './instance/preempted': 'TRUE\n' });
      assert.equal(bed.run(notices).stdout, 'notice preempted TRUE\n');
    });

    test('a boot at Google runs the program of the cluster, then the script of the file as what it is', (t) => {
      const boot = (file_script: string, boot_program = 'echo watchdog; exit 3\n'): string =>
        new ShellBed(t, shell).run(program('google/launch/google-startup', { boot_program, file_script })).stdout;
      assert.equal(boot('echo "${BASH_VERSION:+bash}"\n'), 'watchdog\nbash\n');
      assert.equal(boot('#!/bin/cat\nas it is\n', ''), '#!/bin/cat\nas it is\n');
      assert.equal(boot(''), 'watchdog\n');
    });

    const own = {
      './project/project-id': 'lab',
      './instance/zone': 'projects/1/zones/us-west1-b',
      './instance/name': 'worker-1',
    };
    const token = { './instance/service-accounts/default/token': '{"access_token" : "ya29", "expires_in": 1}' };
    const remove = program('google/end/delete-self', { metadata: '.', compute: 'compute', tpu: 'tpu' });

    test('a machine of Google deletes itself with its own token, and gives up without one', (t) => {
      const bed = machine(t, shell, { ...own, ...token });
      bed.run(remove);
      assert.match(deleted(bed), /Bearer ya29 compute\/projects\/lab\/zones\/us-west1-b\/instances\/worker-1\n$/);
      const denied = machine(t, shell, own);
      denied.run(remove);
      assert.equal(deleted(denied), '');
    });

    test('of a TPU slice only the first host deletes the slice', (t) => {
      const host = (number: string): string => {
        const slice = {
          './instance/attributes/instance-id': 's-1',
          './instance/attributes/agent-worker-number': number,
        };
        const bed = machine(t, shell, { ...own, ...token, ...slice });
        bed.run(remove);
        return deleted(bed);
      };
      assert.match(host('0'), /^[^\n]*Bearer ya29 tpu\/projects\/lab\/locations\/us-west1-b\/nodes\/s-1\n/);
      assert.doesNotMatch(host('1'), /nodes\/s-1/);
    });
  });
