// needs: hosts

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { labProblem, openLab } from '../../lab/lab.ts';
import { identify, isAlive, type ProcessIdentity } from '../../lab/processes.ts';
import { folderOf, readRecords, sweep } from '../../lab/record.ts';

const program = fileURLToPath(new URL('../../lab/main.ts', import.meta.url));
const library = new URL('../../lab/lab.ts', import.meta.url).href;
const ssh = 'ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new';

const mantaLab = (...words: readonly string[]): { code: number | null; stdout: string; stderr: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { timeout: 60_000 });
  return { code: status, stdout: stdout.toString(), stderr: stderr.toString() };
};

const groupsOf = (token: string): readonly string[] => globSync(`/sys/fs/cgroup/{,*/}manta-lab/*-${token}`);

/** A process that has a lab with one frozen host, and the processes of that lab. */
async function labOfAnother(): Promise<{ child: ChildProcess; id: number; token: string; all: ProcessIdentity[] }> {
  const text = `
    import { openLab } from '${library}';
    const lab = await openLab({ hosts: 2 });
    await lab.hosts[0].freeze();
    await lab.hosts[1].slow({ latencyMs: 1 });
    const all = [lab.laptop, ...lab.hosts].flatMap((host) => host.processes().map(({ pid }) => pid));
    process.stdout.write(JSON.stringify({ id: lab.id, all }) + '\\n');
    setInterval(() => undefined, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { id, all } = JSON.parse(line.toString()) as { id: number; all: number[] };
  const { token, keeper } = readRecords().find((record) => record.id === id)!;
  return { child, id, token, all: [keeper!, ...all.flatMap((pid) => identify(pid) ?? [])] };
}

describe('the end of a lab', { skip: labProblem() ?? false }, () => {
  it('leaves nothing: no process, no folder, no cgroup', async () => {
    const lab = await openLab({ hosts: 2 });
    const { token, keeper } = readRecords().find(({ id }) => id === lab.id)!;
    const all = [lab.laptop, ...lab.hosts].flatMap((host) =>
      host.processes().flatMap(({ pid }) => identify(pid) ?? []),
    );
    assert.ok(groupsOf(token).length > 0);
    await lab.close();
    await lab.close();
    assert.equal([keeper!, ...all].some(isAlive), false);
    assert.equal(
      readRecords().some((record) => record.token === token),
      false,
    );
    assert.deepEqual(groupsOf(token), []);
  });

  it('comes with kill -9 of its owner; the next start removes what is left, and not the lab of a live process', async () => {
    const [dead, live] = [await labOfAnother(), await labOfAnother()];
    dead.child.kill('SIGKILL');
    await once(dead.child, 'exit');
    const lab = await openLab({ hosts: 1 });
    try {
      assert.equal(dead.all.some(isAlive), false);
      assert.deepEqual(groupsOf(dead.token), []);
      assert.equal(
        readRecords().some(({ token }) => token === dead.token),
        false,
      );
      assert.ok(live.all.every(isAlive));
    } finally {
      await lab.close();
      live.child.kill('SIGKILL');
      await once(live.child, 'exit');
      await sweep();
    }
    assert.equal(live.all.some(isAlive), false);
  });

  it('comes by itself when its owner ends', async () => {
    const text = `const { openLab } = await import('${library}'); const lab = await openLab({ hosts: 1 });
      process.stdout.write(String(lab.id));`;
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], {
      timeout: 60_000,
    });
    assert.equal(status, 0, 'a lab does not keep a process from ending');
    const left = readRecords().find(({ id }) => id === Number(stdout.toString()));
    while ([left?.keeper].some((keeper) => keeper !== undefined && isAlive(keeper))) await sleep(10);
    await sweep();
    assert.equal(
      readRecords().some(({ token }) => token === left?.token),
      false,
    );
  });

  it('of another lab is not noticed by one beside it', async () => {
    const [one, two] = await Promise.all([openLab({ hosts: 1 }), openLab({ hosts: 1 })]);
    try {
      assert.notEqual(one.hosts[0]!.address, two.hosts[0]!.address);
      assert.equal((await one.laptop.exec(`${ssh} -o ConnectTimeout=2 ${two.hosts[0]!.address} true`)).code, 255);
      await one.close();
      assert.equal(await two.laptop.must(`${ssh} h1 hostname`), 'h1\n');
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
  });
});

describe('manta-lab', { skip: labProblem() ?? false }, () => {
  it('makes a lab that stays, works on it, and takes it down', () => {
    const up = mantaLab('up', '--hosts', '1');
    assert.equal(up.code, 0, up.stderr);
    const id = /^lab (\d+)/.exec(up.stdout)![1]!;
    const on = ['--lab', id];
    const folder = (): number | undefined => statSync(folderOf(Number(id)), { throwIfNoEntry: false })?.ino;
    const made = folder();
    assert.notEqual(made, undefined);
    try {
      assert.match(mantaLab('ls').stdout, new RegExp(`lab ${id}, until it is taken down\n  h0\t10.77.${id}.10\t`));
      const far = mantaLab('exec', ...on, 'h0', 'sh', '-c', `${ssh} h1 'hostname; exit 7'`);
      assert.deepEqual([far.code, far.stdout], [7, 'h1\n']);
      assert.match(mantaLab('exec', ...on, '--user', 'ada', 'h1', 'id').stdout, /uid=2001\(ada\)/);
      assert.equal(mantaLab('kill', ...on, 'h1').code, 0);
      assert.match(mantaLab('exec', ...on, 'h1', 'true').stderr, /h1 is not up/);
      for (const knob of [
        'boot',
        'reboot',
        'freeze',
        'thaw',
        'cut',
        'mend',
        'slow',
        'fast',
        'drop',
        'refuse',
        'accept',
      ])
        assert.equal(mantaLab(knob, ...on, 'h1').code, 0, knob);
      assert.equal(mantaLab('fill', ...on, 'h1').code, 0);
      assert.equal(mantaLab('exec', ...on, 'h1', 'sh', '-c', 'echo > /root/x').code, 1);
      assert.equal(mantaLab('unfill', ...on, 'h1').code, 0);
      assert.match(mantaLab('ps', ...on, 'h1').stdout, /sshd/);
    } finally {
      assert.equal(
        mantaLab('down', ...on)
          .stdout.trim()
          .split('\n')
          .at(-1),
        `ended: lab ${id}`,
      );
    }
    assert.notEqual(folder(), made, 'a lab that is there under this number now is another one');
  });

  it('says what is wrong with a command line', () => {
    assert.equal(mantaLab('dance').code, 2);
    assert.match(mantaLab('kill').stderr, /'kill' takes one host/);
    assert.match(
      mantaLab('slow', 'h1', '--latency', 'much').stderr + mantaLab('up', '--hosts', 'x').stderr,
      /takes a number/,
    );
    assert.match(mantaLab('kill', '--lab', '199', 'h1').stderr, /there is no lab 199/);
  });

  it('leaves labs of live processes alone, also when told to end one', async () => {
    const lab = await openLab({ hosts: 1 });
    try {
      assert.match(mantaLab('down', '--lab', String(lab.id)).stderr, new RegExp(`belongs to process ${process.pid}`));
      assert.ok(lab.hosts[0]!.up);
    } finally {
      await lab.close();
    }
  });
});

describe('where there can be no lab', () => {
  it('the reason and a way out are told', {
    skip: process.getuid?.() !== 0 ? 'optional: this is already told here' : false,
  }, () => {
    const text = `const { labProblem } = await import('${new URL('../../lab/problem.ts', import.meta.url).href}');
      process.stdout.write(String(labProblem()));`;
    const asNobody = { uid: 65534, gid: 65534, timeout: 60_000, cwd: '/' };
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], asNobody);
    assert.match(stdout.toString(), /needs root; .*docker run --rm --privileged/, stderr.toString());
  });
});
