/** What people do with a cluster that is up, whatever its nodes are made of. Each is a test of the suite that calls. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { type ClusterBed, eventually, program } from './cluster-bed.ts';
import { runInTerminal } from './cluster-terminal.ts';

export interface Used {
  readonly bed: ClusterBed;
  /** The cluster file, in the user's home on the laptop. */
  readonly file: string;
}

/** Every byte there is, many times, in an order of its own. */
const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7 + (at >> 8)) & 0xff));
const digest = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

const echoScript = `import json, os, sys
print("ARGS" + json.dumps(sys.argv[1:]))
print("WHERE", os.uname().nodename)
sys.exit(int(os.environ.get("CODE", "0")))
`;
const hardWords = ['--lr=0.1', 'two words', "it's", 'a "quote"', '$HOME `id`', 'ümlaut'];

export function itIsUsed(used: () => Used): void {
  it('passes the exit code of a command on, and its words as they are', async () => {
    const { bed, file } = used();
    assert.equal((await bed.run(['exec', file, 'exit 23'])).code, 23);
    assert.equal((await bed.run(['exec', file, 'kill -9 $$'])).code, 137);
    const said = await bed.manta(['exec', file, '--', 'printf', '%s|', ...hardWords]);
    assert.equal(said, `${hardWords.join('|')}|`);
  });

  it('carries bytes through a pipe in both directions', async () => {
    const { bed, file } = used();
    const there = await bed.manta(['exec', file, 'sha256sum'], { input: bytes });
    assert.equal(there.split(' ')[0], digest(bytes));
    const back = await bed.laptop.must(
      `head -c 300000 /dev/urandom >sent; ${program} exec ${file} cat <sent >got; cmp sent got && echo same`,
      { user: bed.user },
    );
    assert.equal(back, 'same\n');
  });

  it('opens a terminal that has a size, takes Ctrl-C and shows all letters', async () => {
    const { bed, file } = used();
    const { code, shown } = await runInTerminal(bed, [program, 'attach', file], { rows: 37, columns: 119 }, [
      { expect: '[#$] $', send: 'stty size; echo "<ä€𝄞>"\r' },
      { expect: '\\n37 119\\n<ä€𝄞>\\n[\\s\\S]*[#$] $', send: "sh -c 'echo going; exec sleep 1000'\r" },
      { expect: '\\ngoing\\n', send: '\u0003' },
      { expect: '[#$] $', send: 'echo "after $?"\r' },
      { expect: '\\nafter 130\\n[\\s\\S]*[#$] $', size: { rows: 41, columns: 93 } },
      // The new size goes its own way, beside what is typed.
      { expect: '[#$] $', send: 'until stty size | grep "41 93"; do sleep 0.1; done\r' },
      { expect: '41 93\\n[\\s\\S]*[#$] $', send: 'exit 7\r' },
    ]);
    assert.equal(code, 7, shown);
  });

  it('runs a script with words of every kind, and passes its exit code on', async () => {
    const { bed, file } = used();
    bed.write('show args.py', echoScript);
    const { code, stdout, stderr } = await bed.run(['submit', file, 'show args.py', '--', ...hardWords]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(/^ARGS(.*)$/m.exec(stdout)?.[1] ?? ''), hardWords);
    assert.match(stdout, /^WHERE h1$/m);
    bed.write('fails.py', 'import sys; sys.exit(9)\n');
    assert.equal((await bed.run(['submit', file, 'fails.py'])).code, 9);
  });

  it('lets work go on in a tmux, and knows its output and how it ended', async () => {
    const { bed, file } = used();
    bed.write('show args.py', echoScript);
    const id = (await bed.manta(['submit', '--tmux', file, 'show args.py', '--', ...hardWords])).trim();
    const failing = (await bed.manta(['exec', '--tmux', file, 'echo said; exit 4'])).trim();
    type Listed = { id: string; state: string; exitCode?: number };
    const listed = async (): Promise<Listed[]> =>
      (await bed.manta(['--json', 'sessions', file]))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Listed);
    const ended = await eventually('both sessions have ended', async () => {
      const all = (await listed()).filter((each) => [id, failing].includes(each.id));
      return all.length === 2 && all.every((each) => each.exitCode !== undefined) && all;
    });
    assert.deepEqual(
      [id, failing].map((each) => ended.find((session) => session.id === each)?.exitCode),
      [0, 4],
    );
    const log = await bed.manta(['sessions', file, '--log', id]);
    assert.deepEqual(JSON.parse(/ARGS(\[.*\])/.exec(log)?.[1] ?? ''), hardWords);
    assert.equal((await bed.run(['sessions', file, '--log', failing, '-f'])).code, 4);
    assert.match(await bed.manta(['sessions', file]), new RegExp(`^${failing} .*\\b4\\b`, 'm'));
  });

  it('copies files to the head and back', async () => {
    const { bed, file } = used();
    bed.write('data/deep/one two.txt', 'text of one\n');
    bed.write('data/top.txt', 'top\n');
    await bed.manta(['rsync-up', file, 'data/', '~/copied/']);
    assert.equal(await bed.manta(['exec', file, 'cat ~/copied/deep/*; ls ~/copied']), 'text of one\ndeep\ntop.txt\n');
    await bed.manta(['exec', file, 'seq 3 > ~/copied/deep/made.txt']);
    await bed.manta(['rsync_down', file, '~/copied/deep/', 'back/']);
    assert.equal(readFileSync(join(bed.laptop.root, bed.home, 'back/made.txt'), 'utf8'), '1\n2\n3\n');
    assert.equal(readFileSync(join(bed.laptop.root, bed.home, 'back/one two.txt'), 'utf8'), 'text of one\n');
  });

  it('lets a port of the laptop lead to the head for as long as a command runs', async () => {
    const { bed, file } = used();
    const serve =
      'mkdir -p ~/page; cd ~/page; echo from the head >index.html; exec python -m http.server 9100 --bind 127.0.0.1';
    const running = bed.start(['exec', file, '-p', '9100', serve]);
    const closed = once(running, 'close');
    await eventually('the port leads to the head', async () => {
      const { stdout } = await bed.laptop.exec('curl -sS http://localhost:9100/');
      return stdout === 'from the head\n';
    });
    running.kill('SIGINT');
    await closed;
    assert.notEqual((await bed.laptop.exec('curl -sS http://localhost:9100/')).code, 0, 'the port is gone');
  });
}
