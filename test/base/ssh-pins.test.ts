// needs: sshd

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { MantaError } from '../../src/base/errors.ts';
import { sshErrors } from '../../src/base/ssh/errors.ts';
import { sshHost } from '../../src/base/ssh/host.ts';
import { acceptPin, readPin } from '../../src/base/ssh/pins.ts';
import { never as signal } from '../contract/waiting.ts';
import { missing, startSshd } from './test-sshd.ts';

suite('the key of a host', { skip: missing() ?? false }, () => {
  test('is taken on first use, under the name of the instance and not its address', async (t) => {
    const sshd = await startSshd(t);
    const target = sshd.target();
    assert.deepEqual(readPin(target.pin), []);
    await sshHost(target).sh(':', { signal });
    const shown = execFileSync('ssh-keygen', ['-l', '-f', join(sshd.folder, 'host-key.pub')], { encoding: 'utf8' });
    assert.deepEqual(readPin(target.pin), [{ type: 'ssh-ed25519', fingerprint: shown.split(' ')[1] }]);
    assert.doesNotMatch(readFileSync(target.pin.file, 'utf8'), /127\.0\.0\.1/);
  });

  for (const type of ['ed25519', 'ecdsa'] as const)
    test(`stops everything when it is another one (${type}), until that is accepted`, async (t) => {
      const sshd = await startSshd(t);
      const target = sshd.target();
      const host = sshHost(target);
      await host.sh(':', { signal });
      const [before] = readPin(target.pin);
      sshd.killMasters();
      await sshd.changeHostKey(type);
      await assert.rejects(host.sh('echo never', { signal }), (error: MantaError) => {
        assert.ok(sshErrors.HostKeyChanged.is(error), String(error));
        assert.match(error.message, /instance-1/);
        assert.ok(error.message.includes(before?.fingerprint ?? '?') && error.message.includes(target.pin.file));
        assert.match(error.hint ?? '', /manta host-key accept/);
        return true;
      });
      const gone = acceptPin(target.pin);
      assert.deepEqual(gone, [before]);
      await host.sh(':', { signal });
      assert.notDeepEqual(readPin(target.pin), [before]);
      assert.equal(readPin(target.pin).length, 1);
    });

  test('must have a place to be kept: without one there is no connection', async (t) => {
    const sshd = await startSshd(t);
    const file = join(sshd.folder, 'taken');
    mkdirSync(file);
    const host = sshHost(sshd.target({ pin: { file, alias: 'instance-1' } }));
    await assert.rejects(host.sh(':', { signal }), (error) => sshErrors.PinFile.is(error));
  });
});
