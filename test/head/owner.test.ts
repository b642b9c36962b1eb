// needs: cluster

/** Whoever owns the state folder always gets back in. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { eventually, raw, TestCluster } from './test-cluster.ts';

const as = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

test('an owner who is revoked loses every token, and the state folder has a new one', async (t) => {
  const cluster = await TestCluster.start(t);
  const file = join(cluster.folder.files.tokens, 'owner');
  const added = await cluster.ask('POST', '/api/manta/v1/users', { name: 'second', admin: true });
  const second = (added.body as { token: string }).token;
  const path = '/api/manta/v1/users/owner';
  assert.equal((await raw(cluster.url, { method: 'DELETE', path, headers: as(second) })).status, 200);
  const fresh = await eventually('there is a new token', () => {
    const token = readFileSync(file, 'utf8').trim();
    return token !== cluster.token && token;
  });
  const status = async (token: string): Promise<number> =>
    (await raw(cluster.url, { path: '/api/manta/v1/users', headers: as(token) })).status;
  assert.deepEqual([await status(cluster.token), await status(fresh), await status(second)], [403, 200, 200]);

  const revoked = await cluster.home.run('user', 'revoke', 'owner');
  assert.deepEqual([revoked.code, revoked.err], [0, '']);
  assert.match(revoked.out, /the cluster's state folder has a new token/);
  await eventually('that one is gone too', async () => (await status(fresh)) === 403);
  const listed = await eventually('commands work again', async () => {
    const answer = await cluster.home.run('--json', 'user', 'list');
    return answer.code === 0 && answer;
  });
  const users = listed.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; admin: boolean; revokedAt?: number });
  assert.deepEqual(
    users.map(({ name, admin, revokedAt }) => [name, admin, revokedAt]),
    [
      ['owner', true, undefined],
      ['second', true, undefined],
    ],
  );
  const events = await cluster.home.run('events');
  assert.match(events.out, /revoked user owner[^]*issued a new token for user owner/);
  const again = await cluster.home.run('up', '--max-workers', '1');
  assert.equal(again.code, 0, again.err);
});

test('a state folder without a valid token opens again with the next up', async (t) => {
  const cluster = await TestCluster.start(t);
  await cluster.ask('POST', '/api/manta/v1/users', { name: 'second', admin: true });
  assert.equal((await cluster.down('--keep-state')).code, 0);
  const journal = new DatabaseSync(cluster.folder.files.journal);
  journal.prepare("UPDATE users SET revoked_at = 1 WHERE name = 'owner'").run();
  journal.prepare("DELETE FROM tokens WHERE user = 'owner'").run();
  journal.close();
  const file = join(cluster.folder.files.tokens, 'owner');
  for (const spoil of [() => rmSync(file), () => writeFileSync(file, 'of another journal\n')]) {
    spoil();
    const up = await cluster.home.run('up');
    assert.equal(up.code, 0, up.err);
    assert.equal((await cluster.home.run('user', 'list')).code, 0);
    assert.equal((await cluster.down('--keep-state')).code, 0);
  }
});

test('a token file that is deleted while the cluster runs is made again', async (t) => {
  const cluster = await TestCluster.start(t);
  rmSync(join(cluster.folder.files.tokens, 'owner'));
  const up = await cluster.home.run('up', '--max-workers', '1');
  assert.equal(up.code, 0, up.err);
  assert.equal((await cluster.home.run('status')).code, 0);
});
