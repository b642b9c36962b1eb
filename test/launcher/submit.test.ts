// needs: hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { labProblem } from '../../lab/lab.ts';
import { type Bed, openBed } from './exec-bed.ts';

describe('manta submit', { skip: labProblem() ?? false }, () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed();
    await bed.head.must('ln -s "$(command -v python3)" /usr/local/bin/python');
    await bed.laptop.must(['tee', "a script's.py"], {
      input: 'import json, sys\nprint(json.dumps(sys.argv[1:]))\nsys.exit(6)\n',
    });
  });
  after(() => bed?.close());

  it('copies the script into the home of the head and gives it each word as it was typed', async () => {
    const words = ['a b', '--x=$HOME', "q'q", '', '*'];
    const { code, stdout } = await bed.manta(['submit', 'cluster.yaml', "a script's.py", '--', ...words]);
    assert.equal(code, 6);
    assert.deepEqual(JSON.parse(stdout), words);
    assert.match(await bed.head.must(['cat', "a script's.py"]), /json\.dumps/);
  });

  it('takes the words of --args as one text, as ray does', async () => {
    const { stdout, stderr } = await bed.manta([
      'submit',
      'cluster.yaml',
      "a script's.py",
      '--args',
      '--n 3 "two words"',
    ]);
    assert.deepEqual(JSON.parse(stdout), ['--n', '3', 'two words']);
    assert.match(stderr, /deprecated/);
    const both = await bed.manta(['submit', 'cluster.yaml', "a script's.py", '--args', 'x', '--', 'y']);
    assert.equal(both.code, 2);
  });

  it('gives a handle with --screen, whose options may be given too', async () => {
    const words = ['submit', 'cluster.yaml', '--screen', '--extra-screen-args', '-Logfile ~/kept.log', "a script's.py"];
    const { code, stdout } = await bed.manta(words);
    assert.equal(code, 0);
    const log = await bed.manta(['sessions', 'cluster.yaml', '--log', stdout.trim(), '-f']);
    assert.deepEqual([log.code, log.stdout.trim()], [6, '[]']);
    assert.equal((await bed.head.exec('test -e kept.log')).code, 0);
  });

  it('names a script that is not there', async () => {
    const { code, stderr } = await bed.manta(['submit', 'cluster.yaml', 'nope.py']);
    assert.equal(code, 2);
    assert.match(stderr, /script not found: '.*nope\.py'/);
  });
});
