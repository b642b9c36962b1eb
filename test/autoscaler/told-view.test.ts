import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { View } from '../../src/core/view.ts';
import { providerErrors } from '../../src/providers/errors.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, seconds } from './loop-in-world.ts';

/** A loop with more to do at every moment, so that it launches before each list has come; `list` may be refused. */
function scalingLoop() {
  const world = worldOf({ work: [{ tasks: 40, needs: { CPU: 4 }, duration: '2m' }] });
  const views: View[] = [];
  const refused = { list: false };
  const loop = loopIn(world, {
    onPass: (view) => views.push(view),
    provider: {
      list: (signal) => {
        if (refused.list) throw providerErrors.Denied({ call: 'list', detail: 'token expired' });
        return world.cloud.list(signal);
      },
      launch: (request, signal) => world.cloud.launch(request, signal),
      terminate: (ids, signal) => world.cloud.terminate(ids, signal),
      tag: (id, tags, signal) => world.cloud.tag(id, tags, signal),
    },
  });
  return { world, loop, views, refused };
}

test('a cluster that scales is told as complete while its provider answers', async () => {
  const { world, loop, views } = scalingLoop();
  loop.start();
  await seconds(world, 120);
  assert.ok(views.length > 10);
  assert.deepEqual([...new Set(views.map(({ complete }) => complete.provider))], [true]);
});

test('a provider that no longer answers is told as such in every pass, also in those that did not wait for it', async () => {
  const { world, loop, views, refused } = scalingLoop();
  loop.start();
  await seconds(world, 60);
  const asked = world.time.now;
  refused.list = true;
  await seconds(world, 20);
  const before = views.length;
  await seconds(world, 30);
  assert.deepEqual([...new Set(views.slice(before).map(({ complete }) => complete.provider))], [false]);
  const { since, reason } = views.at(-1)?.silent?.provider ?? {};
  assert.match(reason ?? '', /token expired/);
  assert.ok(since !== undefined && since >= asked && since <= asked + 20_000, 'since when it did not answer');
  refused.list = false;
  await seconds(world, 20);
  assert.equal(views.at(-1)?.complete.provider, true);
  assert.deepEqual(views.at(-1)?.silent, {});
});
