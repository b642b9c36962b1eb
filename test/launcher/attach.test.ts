// needs: hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { labProblem } from '../../lab/lab.ts';
import { type Bed, detach, openBed } from './exec-bed.ts';

describe('manta attach', { skip: labProblem() ?? false }, () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed();
  });
  after(() => bed?.close());

  it('opens a login shell with a real terminal: size, letters, Ctrl-C, exit code', async () => {
    const { code, seen } = await bed.inTerminal(
      ['attach', 'cluster.yaml'],
      [
        { after: '# ', type: 'stty size; echo "=ü€=$RAY_AUTH_MODE="\n' },
        { after: '=ü€=token=', size: [50, 132] },
        {
          after: '# ',
          type: 'until [ "$(stty size)" = "50 132" ]; do sleep 0.1; done; (echo sleeps; exec sleep 99)\n',
        },
        { after: 'sleeps\r\n', type: '\u0003' },
        { after: '# ', type: 'exit 5\n' },
      ],
    );
    assert.equal(code, 5);
    assert.match(seen, /24 80\r\n/);
    assert.match(seen, /\^C/);
  });

  it('opens it on the node that is asked for', async () => {
    const script = [
      { after: '# ', type: 'echo at-$(hostname)-\n' },
      { after: 'at-h2-', type: 'exit\n' },
    ];
    const { seen } = await bed.inTerminal(['attach', 'cluster.yaml', '--node-ip', bed.worker.address], script);
    assert.match(seen, /at-h2-/);
    const { code, stderr } = await bed.manta(['attach', 'cluster.yaml', '--node-ip', '10.9.9.9']);
    assert.equal(code, 2);
    assert.match(stderr, /the cluster 'c1' has no node '10\.9\.9\.9'/);
  });

  for (const [kind, prefix, list] of [
    ['tmux', '\u0002', 'tmux ls'],
    ['screen', '\u0001', 'screen -ls'],
  ] as const)
    it(`with --${kind} opens a ${kind}, and comes back to the same one`, async () => {
      await bed.inTerminal(
        ['attach', 'cluster.yaml', `--${kind}`],
        [{ after: '# ', type: 'word=kept; echo now-$word-\n' }, ...detach('now-kept-', prefix)],
      );
      const { seen } = await bed.inTerminal(
        ['attach', 'cluster.yaml', `--${kind}`],
        [{ after: '# ', type: 'echo again-$word-\n' }, ...detach('again-kept-', prefix)],
      );
      assert.match(seen, /again-kept-/);
      await bed.inTerminal(['attach', 'cluster.yaml', `--${kind}`, '--new'], detach('# ', prefix));
      const { stdout } = await bed.head.exec(list);
      assert.equal(stdout.split('\n').filter((line) => /windows|tached/.test(line)).length, 2);
    });
});
