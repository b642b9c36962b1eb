/**
 * Runs on the laptop of a lab: the contract of providers, and claims of several users, over real SSH. `LAB_HOSTS` names
 * the hosts. The lab itself is made by `lab.test.ts`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { silent } from '../../../src/base/events.ts';
import type { Host } from '../../../src/base/host.ts';
import { sshErrors } from '../../../src/base/ssh/errors.ts';
import { sshHost } from '../../../src/base/ssh/host.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { claimHost, releaseClaim } from '../../../src/providers/local/claims.ts';
import type { LocalProviderEdges } from '../../../src/providers/local/edges.ts';
import { LocalProvider } from '../../../src/providers/local/provider.ts';
import { providerContract } from '../../contract/provider-contract.ts';
import { never } from '../../contract/waiting.ts';
import { claimant, ownHost, type } from './stand-in-hosts.ts';

const names = (process.env['LAB_HOSTS'] ?? '').split(' ');
const control = mkdtempSync(join(tmpdir(), 'manta-lab-'));
const open = new Map<string, Host>();
/** Nobody listens there. */
const closed = { address: names[0] ?? '', port: 9, control };

function hostAs(user: string, name: string): Host {
  const id = `${user}-${name}`;
  const known = open.get(id);
  if (known) return known;
  const pin = { file: join(control, `${name}.pin`), alias: `lab-${name}` };
  const made = sshHost({ name, address: name, user, pin, control });
  open.set(id, made);
  return made;
}

/** Runs every program, and loses the connection before its answer. */
function losingAnswers(host: Host): Host {
  const sh: Host['sh'] = async (program, options) => {
    await host.sh(program, options);
    throw sshErrors.Dropped({ host: host.name, during: 'running', detail: 'on request' });
  };
  return new Proxy(host, {
    get(target, key) {
      const member: unknown = key === 'sh' ? sh : Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

let accounts = 0;
providerContract(
  'local, over SSH',
  async (t: TestContext) => {
    const clusterId = `account-${accounts++}`;
    const folder = mkdtempSync(join(tmpdir(), 'manta-records-'));
    const providers: LocalProvider[] = [];
    const make = (more: Partial<LocalProviderEdges> = {}): LocalProvider => {
      const provider = new LocalProvider({
        folder,
        claimant: claimant(clusterId),
        pools: () => [{ type, hosts: names.map((name) => ownHost({ name })) }],
        connect: ({ name }) => hostAs('bob', name),
        end: async (host, _, signal) => void (await host.sh('true', { signal })),
        clock: wallClock,
        events: silent,
        pace: { coolOff: 0, endAgain: 20 },
        ...more,
      });
      providers.push(provider);
      return provider;
    };
    t.after(async () => {
      await Promise.all(providers.map((provider) => provider.close()));
      const options = { signal: never };
      await Promise.all(
        names.map((name) => releaseClaim(hostAs('bob', name), claimant(clusterId), undefined, options)),
      );
    });
    return {
      type,
      provider: () => make(),
      limited: (count) =>
        make({ pools: () => [{ type, hosts: names.slice(0, count).map((name) => ownHost({ name })) }] }),
      refusing: (kind) =>
        make({
          connect: ({ name }) =>
            kind === 'denied'
              ? hostAs('nobody', name)
              : sshHost({ ...closed, name, pin: { file: join(control, 'x'), alias: 'x' } }),
          // A refusal needs an answer, silence does not.
          pace: { connect: kind === 'denied' ? 20_000 : 500 },
        }),
      losingAnswer: () =>
        make({
          connect: ({ name }) => losingAnswers(hostAs('bob', name)),
        }),
    };
  },
  ['no-capacity', 'denied'],
);

describe('users of real hosts', () => {
  const options = { signal: never };
  const claim = (user: string, name: string, cluster: string) =>
    claimHost(hostAs(user, name), claimant(cluster), `i-${cluster}`, options);

  test('without root never both get a host', async () => {
    for (const name of names) {
      const users = ['root', 'ada', 'bob', 'ada', 'bob'];
      const outcomes = await Promise.all(users.map((user, index) => claim(user, name, `c${index}`)));
      assert.deepEqual(outcomes.map(({ kind }) => kind).toSorted(), ['held', 'taken', 'taken', 'taken', 'taken']);
      const winner = outcomes.findIndex(({ kind }) => kind === 'held');
      await releaseClaim(hostAs(users[winner] ?? '', name), claimant(`c${winner}`), undefined, options);
    }
  });

  test('learn what the hosts have', async () => {
    const outcome = await claim('bob', names[0] ?? '', 'facts');
    assert.ok(outcome.kind === 'held' && outcome.facts.cpus > 0 && outcome.facts.memory > 1e8, JSON.stringify(outcome));
    await releaseClaim(hostAs('bob', names[0] ?? ''), claimant('facts'), undefined, options);
  });

  test('have several hosts at once', async (t) => {
    const once = performance.now();
    await Promise.all(names.map((name) => claim('bob', name, 'timed')));
    t.diagnostic(`${names.length} claims over kept connections: ${Math.round(performance.now() - once)} ms`);
    await Promise.all(names.map((name) => releaseClaim(hostAs('bob', name), claimant('timed'), undefined, options)));
  });

  test('leave nothing behind', async () => {
    for (const name of names) {
      const { stdout } = await hostAs('bob', name).sh('ls -A /var/tmp/manta-claims', options);
      assert.equal(stdout, '');
    }
    await Promise.all([...open.values()].map((host) => host.close()));
  });
});
