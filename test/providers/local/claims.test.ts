import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { claimProgram } from '../../../src/providers/local/claim-program.ts';
import {
  type ClaimOutcome,
  claimHost,
  lookAtHost,
  refusalText,
  releaseClaim,
  renewClaim,
  requireClaim,
  resourcesOf,
} from '../../../src/providers/local/claims.ts';
import { localErrors } from '../../../src/providers/local/errors.ts';
import { never, until } from '../../contract/waiting.ts';
import { claimant, HostBed, type StandInHost, terms } from './stand-in-hosts.ts';

const asRoot = process.getuid?.() === 0;
const needsRoot = asRoot ? false : 'only root can be several users';
const options = { signal: never };

const claim = (host: StandInHost, cluster: string, instance = `i-${cluster}`, uid?: number): Promise<ClaimOutcome> =>
  claimHost(host.as(uid), claimant(cluster), instance, options, terms);
const renew = (host: StandInHost, cluster: string, instance = `i-${cluster}`, uid?: number) =>
  renewClaim(host.as(uid), claimant(cluster), instance, options, terms);
const release = (host: StandInHost, cluster: string, instance = `i-${cluster}`, uid?: number) =>
  releaseClaim(host.as(uid), claimant(cluster), instance, options, terms);
/** The host has run on for so many seconds. */
const later = (host: StandInHost, seconds: number): void => host.boot('0a-1', 1000 + seconds);
const holders = (host: StandInHost): unknown[] => host.claims().map((each) => each['clusterId']);

describe('a claim', () => {
  test('is held once, tells who holds it, and can be taken again when it is given back', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    assert.equal((await claim(host, 'a')).kind, 'held');
    const refused = await claim(host, 'b');
    assert.equal(refused.kind, 'taken');
    assert.match(refusalText(refused), /^held by cluster 'lab' of someone@a \(head 10\.0\.0\.1\) until 20\d\d-/);
    await release(host, 'a');
    assert.equal((await claim(host, 'b')).kind, 'held');
    assert.deepEqual(holders(host), ['b']);
  });

  test('is the same claim when the same instance asks again', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a');
    assert.equal((await claim(host, 'a')).kind, 'held');
    assert.equal(host.claims().length, 1);
  });

  test('of another instance of the same cluster is named, so that it can be ended first', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a', 'i-old');
    assert.deepEqual(await claim(host, 'a', 'i-new'), { kind: 'own', instance: 'i-old' });
    await release(host, 'a', 'i-new');
    assert.equal(host.claims().length, 1, 'what another instance holds is not given back');
    await releaseClaim(host.as(), claimant('a'), undefined, options, terms);
    assert.deepEqual(host.claims(), []);
  });

  test('of the head is had, or says who has it', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    const head = (cluster: string, instance: string) =>
      requireClaim(host.as(), claimant(cluster), instance, options, terms);
    await head('a', 'head-1');
    assert.equal((await head('a', 'head-2')).kind, 'held');
    assert.equal(host.claims()[0]?.['instance'], 'head-2');
    await assert.rejects(head('b', 'head-3'), {
      code: localErrors.Taken.code,
      message: /'h1' is held by cluster 'lab' of someone@a/,
    });
  });

  test('stays while it is renewed, and may be overtaken when it has expired', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a');
    later(host, 500);
    assert.equal((await renew(host, 'a')).kind, 'held');
    later(host, 1000);
    assert.equal((await claim(host, 'b')).kind, 'taken');
    later(host, 1101);
    assert.equal((await claim(host, 'b')).kind, 'held');
    assert.equal((await renew(host, 'a')).kind, 'taken');
    assert.deepEqual(holders(host), ['b']);
  });

  test('that has expired is not overtaken while Ray runs there', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a');
    later(host, 5000);
    host.runs(4711, 'raylet');
    const refused = await claim(host, 'b');
    assert.ok(refused.kind === 'taken' && refused.expired);
    assert.match(refusalText(refused), /expired while Ray is still running there/);
    host.runs(4711, 'raylet-not');
    assert.equal((await claim(host, 'b')).kind, 'held');
  });

  test('that was late is renewed all the same when nobody has taken the host', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a');
    later(host, 5000);
    assert.equal((await renew(host, 'a')).kind, 'held');
    assert.equal((await claim(host, 'b')).kind, 'taken');
  });

  test('that was swept away is made again by its renewal', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    assert.equal((await renew(host, 'a')).kind, 'held');
    assert.deepEqual(holders(host), ['a']);
  });

  test('does not mind a clock that is set, forwards or backwards', async (t) => {
    const bed = new HostBed(t, 1);
    const [host] = bed.hosts as [StandInHost];
    const at = (seconds: number) => {
      const path = join(bed.folder, 'bin');
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'date'), `#!/bin/sh\necho ${seconds}\n`);
      chmodSync(join(path, 'date'), 0o755);
      return host.as(undefined, `${path}:${process.env['PATH']}`);
    };
    await claimHost(at(1_000_000), claimant('a'), 'i-a', options, terms);
    for (const now of [1, 2_000_000, 4_000_000_000])
      assert.equal((await claimHost(at(now), claimant('b'), 'i-b', options, terms)).kind, 'taken', String(now));
    // In another life of the host there is only its clock to go by.
    host.boot('0b-2', 5);
    assert.equal((await claimHost(at(1_000_500), claimant('b'), 'i-b', options, terms)).kind, 'taken');
    assert.equal((await claimHost(at(1_000_700), claimant('b'), 'i-b', options, terms)).kind, 'held');
    host.boot('0c-3', 5);
    assert.equal((await claimHost(at(100), claimant('c'), 'i-c', options, terms)).kind, 'held', 'from the future');
  });

  test('says when Ray was started there by somebody without one', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    host.runs(77, 'gcs_server');
    const outcome = await claim(host, 'a');
    assert.ok(outcome.kind === 'held' && outcome.rayRuns);
  });

  test('reports what the host has', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    for (const name of ['nvidia0', 'nvidia1', 'nvidiactl', 'nvidia-uvm'])
      writeFileSync(join(host.folder, 'dev', name), '');
    const outcome = await claim(host, 'a');
    assert.ok(outcome.kind === 'held' && outcome.facts.cpus > 0);
    assert.deepEqual(outcome.facts, { cpus: outcome.facts.cpus, memory: 16384 * 1024, gpus: 2 });
    assert.deepEqual(await lookAtHost(host.as(), options, terms), outcome.facts);
    assert.deepEqual(resourcesOf({ cpus: 4, memory: 1000, gpus: 0 }), { CPU: 4, memory: 700 });
  });

  test('carries names that mean something to a shell as they are', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    const cluster = `it's "$(touch ${host.folder}/owned)" , \\n ünï`;
    await claimHost(host.as(), { ...claimant('a'), cluster }, 'i-a', options, terms);
    assert.equal(existsSync(join(host.folder, 'owned')), false);
    const refused = await claim(host, 'b');
    assert.equal(refused.kind === 'taken' && refused.by.cluster, cluster);
    assert.throws(() => claimProgram({ act: 'claim', terms, clusterId: 'a;b', instance: 'i', note: {} }));
  });
});

describe('the claims folder', () => {
  test('is open to all and sticky, and claims are readable by all', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a');
    const folder = join(host.folder, 'tmp/claims');
    assert.equal(statSync(folder).mode & 0o7777, 0o1777);
    assert.deepEqual(
      readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777),
      [0o644],
    );
  });

  test('is refused when others could change what is in it', async (t) => {
    const [host, second] = new HostBed(t, 2).hosts as [StandInHost, StandInHost];
    mkdirSync(join(host.folder, 'tmp/claims'), { mode: 0o777 });
    const refused = await claim(host, 'a');
    assert.ok(refused.kind === 'unusable');
    assert.match(refused.detail, /mode 1777/);
    mkdirSync(join(second.folder, 'tmp/elsewhere'));
    symlinkSync(join(second.folder, 'tmp/elsewhere'), join(second.folder, 'tmp/claims'));
    assert.equal((await claim(second, 'a')).kind, 'unusable');
  });

  test('with a claim that cannot be read is not taken for free', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a');
    await release(host, 'a');
    const name = `${process.getuid?.()}-x`;
    writeFileSync(join(host.folder, 'tmp/claims', name), '{"format":2,"held":true}\n');
    const refused = await claim(host, 'b');
    assert.ok(refused.kind === 'unusable');
    assert.match(refused.detail, new RegExp(`${name}' cannot be read`));
  });

  test('with a claim of which a power cut left nothing is free, unless Ray runs', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a');
    await release(host, 'a');
    const torn = join(host.folder, 'tmp/claims', `${process.getuid?.()}-x`);
    writeFileSync(torn, '');
    host.runs(4711, 'raylet');
    assert.equal((await claim(host, 'b')).kind, 'unusable');
    host.runs(4711, 'sh');
    assert.equal((await claim(host, 'b')).kind, 'held');
    assert.equal(existsSync(torn), false);
  });
});

describe('users', { skip: needsRoot }, () => {
  test('cannot touch the claims of each other, and see who has the host', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    assert.equal((await claim(host, 'a', 'i-a', 2001)).kind, 'held');
    assert.equal((await claim(host, 'b', 'i-b', 2002)).kind, 'taken');
    await release(host, 'a', 'i-a', 2002);
    assert.deepEqual(holders(host), ['a']);
    later(host, 5000);
    assert.equal((await claim(host, 'b', 'i-b', 2002)).kind, 'held');
    // The file of the other cannot be removed; that it has expired is enough, and its owner learns of it.
    assert.equal((await renew(host, 'a', 'i-a', 2001)).kind, 'taken');
    assert.equal((await renew(host, 'b', 'i-b', 2002)).kind, 'held');
  });

  test('of the same name on two machines are two', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'laptop1', 'i-1', 2001);
    const refused = await claim(host, 'laptop2', 'i-2', 2001);
    assert.equal(refused.kind === 'taken' && refused.by.owner, 'someone@laptop1');
  });

  test('that put a file in the way of another are found out', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a', 'i-a', 2001);
    await release(host, 'a', 'i-a', 2001);
    const folder = join(host.folder, 'tmp/claims');
    const line =
      '{"format":1,"renewedAt":1,"expiresAt":2,"lifetime":1,"uptime":1,"boot":"","clusterId":"b","instance":"x","a":1}';
    const planted = spawn('sh', ['-c', `printf '%s\\n' '${line}' > ${folder}/2002-b`], { uid: 2001, gid: 2001 });
    await until('it is there', () => planted.exitCode !== null);
    const refused = await claim(host, 'b', 'i-b', 2002);
    assert.ok(refused.kind === 'unusable');
    assert.match(refused.detail, /belongs to someone else/);
  });

  test('that claim a host in the name of another claim nothing', async (t) => {
    const [host] = new HostBed(t, 1).hosts as [StandInHost];
    await claim(host, 'a', 'i-a', 2001);
    const [file = ''] = readdirSync(join(host.folder, 'tmp/claims'));
    const forged = join(host.folder, 'tmp/claims', '2003-a');
    renameSync(join(host.folder, 'tmp/claims', file), forged);
    assert.equal((await claim(host, 'b', 'i-b', 2002)).kind, 'held');
    assert.ok(existsSync(forged), 'it is left for its owner to remove');
  });

  test('never both get a host, whoever asks at whatever moment', async (t) => {
    const bed = new HostBed(t, 12);
    let turn = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            uid: fc.constantFrom(undefined, 2001, 2002, 2003),
            cluster: fc.constantFrom('a', 'b', 'c', 'd'),
          }),
          {
            minLength: 2,
            maxLength: 8,
          },
        ),
        async (askers) => {
          const host = bed.hosts[turn++] as StandInHost;
          const outcomes = await Promise.all(
            askers.map(({ uid, cluster }, index) => claim(host, `${cluster}${uid ?? 0}`, `i-${index}`, uid)),
          );
          assert.equal(outcomes.filter(({ kind }) => kind === 'held').length, 1);
          assert.equal(host.claims().length, 1);
          assert.ok(outcomes.every(({ kind }) => kind === 'held' || kind === 'taken' || kind === 'own'));
        },
      ),
      { numRuns: bed.hosts.length },
    );
  });
});

test('a claimant that is killed at any moment holds up nobody, and leaves a whole claim or none', async (t) => {
  const bed = new HostBed(t, 1);
  const [host] = bed.hosts as [StandInHost];
  const text = claimProgram({ act: 'claim', terms, clusterId: 'dead', instance: 'i-dead', note: { cluster: 'x' } });
  await claim(host, 'warm');
  await release(host, 'warm');
  for (let moment = 0; moment < 12; moment++) {
    const child = spawn('sh', [], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    child.stdin.on('error', () => {});
    child.stdin.end(text.replaceAll('/STAND-IN', host.folder));
    await new Promise((resolve) => setTimeout(resolve, moment));
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await until('it is dead', () => child.exitCode !== null || child.signalCode !== null);
    const outcome = await claim(host, 'next');
    assert.ok(outcome.kind === 'held' || (outcome.kind === 'taken' && outcome.by.instance === 'i-dead'), outcome.kind);
    await release(host, 'next');
    await release(host, 'dead');
    assert.deepEqual(host.claims(), []);
  }
});

test('without flock the lock is taken through python3', async (t) => {
  const bed = new HostBed(t, 1);
  const [host] = bed.hosts as [StandInHost];
  const bin = join(bed.folder, 'bin');
  mkdirSync(bin);
  const tools = ['sh', 'id', 'mkdir', 'sleep', 'date', 'rm', 'mv', 'cat', 'grep', 'getconf', 'python3'];
  for (const tool of tools) {
    const found = ['/usr/bin', '/bin', '/usr/local/bin'].find((folder) => existsSync(join(folder, tool)));
    if (found === undefined) return t.skip(`there is no ${tool} here`);
    symlinkSync(join(found, tool), join(bin, tool));
  }
  const outcomes = await Promise.all(
    ['a', 'b', 'c', 'd'].map((cluster) =>
      claimHost(host.as(undefined, bin), claimant(cluster), `i-${cluster}`, options, terms),
    ),
  );
  assert.deepEqual(outcomes.map(({ kind }) => kind).toSorted(), ['held', 'taken', 'taken', 'taken']);
});
