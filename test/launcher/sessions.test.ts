// needs: hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { labProblem } from '../../lab/lab.ts';
import { type Bed, detach, openBed } from './exec-bed.ts';

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly exitCode?: number;
  readonly command: string;
  readonly logPath: string;
}

describe('commands in a tmux or screen', { skip: labProblem() ?? false }, () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed();
  });
  after(() => bed?.close());

  const started = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await bed.manta(['exec', 'cluster.yaml', ...words]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^s[0-9a-z]{7}\n$/, 'the handle stands alone on its line');
    return stdout.trim();
  };
  const sessions = async (): Promise<readonly Listed[]> => {
    const { stdout } = await bed.manta(['sessions', 'cluster.yaml', '--json']);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Listed);
  };

  for (const kind of ['tmux', 'screen'])
    it(`in a ${kind} go on alone, on a terminal, and keep their output and exit code`, async () => {
      const id = await started(`--${kind}`, 'echo "ein-ü-$RAY_AUTH_MODE"; test -t 1 && echo terminal; sleep 1; exit 3');
      const followed = await bed.manta(['sessions', 'cluster.yaml', '--log', id, '--follow']);
      assert.equal(followed.code, 3, 'a session that is followed to its end passes its exit code on');
      assert.equal(followed.stdout.replaceAll('\r', ''), 'ein-ü-token\nterminal\n');
      const session = (await sessions()).find((each) => each.id === id)!;
      assert.deepEqual([session.state, session.exitCode], ['ended', 3]);
      assert.equal(await bed.head.must(`cat ${session.logPath} | tr -d '\\r'`), followed.stdout.replaceAll('\r', ''));
      const { stdout } = await bed.manta(['sessions', 'cluster.yaml']);
      assert.match(stdout, new RegExp(`${id} +ended +3 +\\d+s +${kind} `));
    });

  it('are attached to by their handle, while they run and after', async () => {
    const id = await started('--tmux', 'echo working; read -r word; echo "got-$word-"');
    const { seen } = await bed.inTerminal(
      ['attach', 'cluster.yaml', '--session', id],
      [{ after: 'working', type: 'this\n' }, ...detach('got-this-', '\u0002')],
    );
    assert.match(seen, /got-this-/);
    const { seen: later } = await bed.inTerminal(
      ['attach', 'cluster.yaml', '--session', id.slice(0, 6)],
      detach('exit code 0', '\u0002'),
    );
    assert.match(later, /exit code 0/);
  });

  it('whose window is taken away are ended, and known to have been', async () => {
    const id = await started('--tmux', 'sleep 4331');
    await bed.head.must(['tmux', 'kill-session', '-t', id]);
    await bed.gone(bed.head, 'sleep 4331');
    await bed.head.must(`until [ -s .manta/nodes/c1/sessions/${id}/rc ]; do sleep 0.1; done`);
    const session = (await sessions()).find((each) => each.id === id);
    assert.deepEqual([session?.state, session?.exitCode], ['ended', 129]);
    const { code, stderr } = await bed.manta(['attach', 'cluster.yaml', '--session', id]);
    assert.equal(code, 1);
    assert.match(stderr, /MANTA_SESSION_CLOSED/);
  });

  it('with --stop ask the head to end the cluster when they have ended', async () => {
    const id = await started('--tmux', '--stop', 'exit 4');
    await bed.head.must('until [ -e .manta/nodes/c1/stop-requested.json ]; do sleep 0.1; done');
    const asked = JSON.parse(await bed.head.must('cat .manta/nodes/c1/stop-requested.json')) as Record<string, unknown>;
    assert.deepEqual([asked['session'], asked['exitCode']], [id, 4]);
  });

  it('are not started where there is no multiplexer', async () => {
    await bed.head.must('mv /usr/bin/screen /usr/bin/screen.away');
    const { code, stderr } = await bed.manta(['exec', 'cluster.yaml', '--screen', 'true']);
    await bed.head.must('mv /usr/bin/screen.away /usr/bin/screen');
    assert.equal(code, 3);
    assert.match(stderr, /screen is not installed.*MANTA_SESSION_NO_MULTIPLEXER/);
  });

  it('that nobody knows are named as such', async () => {
    const { code, stderr } = await bed.manta(['sessions', 'cluster.yaml', '--log', 'nope']);
    assert.equal(code, 2);
    assert.match(stderr, /there is no session 'nope'/);
  });

  it('that a reboot took with it are not taken for running ones', async () => {
    const id = await started('--tmux', 'sleep 4332');
    await bed.head.reboot();
    const session = (await sessions()).find((each) => each.id === id);
    assert.deepEqual([session?.state, session?.exitCode], ['lost', undefined]);
  });
});
