import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import { sshErrors } from '../../src/base/ssh/errors.ts';
import type { RemoteCluster } from '../../src/launcher/reach/remote-cluster.ts';
import { installKey, type KeyOutcome, reachWorker } from '../../src/launcher/reach/worker-key.ts';
import { awaitsKey, hostsWithoutKeyText } from '../../src/state/hosts-without-key.ts';
import { headHome, stateFolder } from '../../src/state/state-folder.ts';
import { never } from '../contract/waiting.ts';

type Way = (signal: AbortSignal) => Promise<unknown>;

const silent: Way = (signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
const noRoute: Way = () => Promise.reject(sshErrors.Unreachable({ host: 'w', detail: 'No route to host' }));
const noForward: Way = () => Promise.reject(sshErrors.Unreachable({ host: 'w', detail: 'Stdio forwarding failed' }));
const stranger: Way = () => Promise.reject(sshErrors.AuthFailed({ host: 'w', detail: 'publickey', keys: [] }));
const there: Way = () => Promise.resolve({ code: 0, stdout: '', stderr: '' });

/** A cluster whose one worker answers so on the two ways; `tried` says which were gone. */
function clusterOf(direct: Way, through: Way): { cluster: RemoteCluster; tried: string[] } {
  const tried: string[] = [];
  const host = (name: string, way: Way): Host => {
    const go = async ({ signal }: { readonly signal: AbortSignal }): Promise<unknown> => {
      tried.push(name);
      return await way(signal);
    };
    return { name, connect: go, sh: (_: string, options: { signal: AbortSignal }) => go(options) } as unknown as Host;
  };
  const cluster = {
    hostOf: (_: string, by?: 'head') => (by === undefined ? host('direct', direct) : host('through', through)),
  } as unknown as RemoteCluster;
  return { cluster, tried };
}

describe('a worker', () => {
  test('is reached through the head where this machine sees no way, or none that answers', async () => {
    for (const direct of [noRoute, silent])
      assert.equal((await reachWorker(clusterOf(direct, there).cluster, 'w', never)).name, 'through');
  });

  test('is reached directly where that works, and the head is not asked', async () => {
    const { cluster, tried } = clusterOf(there, noForward);
    assert.equal((await reachWorker(cluster, 'w', never)).name, 'direct');
    assert.deepEqual(tried, ['direct']);
  });

  test('that no way leads to is told by what the direct way fails for', async () => {
    await assert.rejects(reachWorker(clusterOf(noRoute, noForward).cluster, 'w', never), /No route to host/);
  });

  test('that refuses this machine is not asked again through the head', async () => {
    const { cluster, tried } = clusterOf(stranger, there);
    await assert.rejects(reachWorker(cluster, 'w', never), { code: sshErrors.AuthFailed.code });
    assert.deepEqual(tried, ['direct']);
  });

  test('gets the key of its cluster by either way, and one that cannot keeps no other from it', async () => {
    const outcomes: KeyOutcome[] = [];
    const ways = new Map([
      ['near', clusterOf(there, noForward)],
      ['far', clusterOf(noRoute, there)],
      ['dead', clusterOf(noRoute, noForward)],
    ]);
    const cluster = {
      hostOf: (address: string, by?: 'head') => ways.get(address)?.cluster.hostOf(address, by),
    } as unknown as RemoteCluster;
    const key = { publicKey: 'ssh-ed25519 AAAA manta', from: ['10.0.0.1'] };
    await installKey(cluster, ['dead', 'far', 'near'], key, (outcome) => outcomes.push(outcome), never);
    const told = outcomes.map(({ address, error }) => `${address}${error ? `: ${error.message}` : ''}`).toSorted();
    assert.deepEqual(told, ['dead: cannot reach w: No route to host', 'far', 'near']);
  });
});

test('hosts that are still to get their key are known to mantad, until they have it or nobody sees to it any more', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = stateFolder(join(home, headHome), 'c1');
  const run = (...hosts: string[]): unknown =>
    execFileSync('sh', ['-c', hostsWithoutKeyText('c1', hosts)], { env: { ...process.env, HOME: home } });
  const waiting = (): string[] => ['10.0.0.2', 'fd77::c'].filter((host) => awaitsKey(folder, host, Date.now()));
  assert.deepEqual(waiting(), []);
  run('10.0.0.2', 'fd77::c');
  assert.deepEqual(waiting(), ['10.0.0.2', 'fd77::c']);
  run('fd77::c');
  assert.deepEqual(waiting(), ['fd77::c']);
  const longAgo = Date.now() / 1000 - 120;
  utimesSync(folder.files.hostsWithoutKey, longAgo, longAgo);
  assert.deepEqual(waiting(), []);
  run();
  assert.deepEqual(waiting(), []);
});
