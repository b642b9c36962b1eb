/** The page about the state folder is held to what is really there. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { TestCluster } from './test-cluster.ts';

const page = readFileSync(new URL('../../docs/state-folder.md', import.meta.url), 'utf8');
const listed = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] as string);

test('docs/state-folder.md lists what a state folder holds, no less and no more', async (t) => {
  const cluster = await TestCluster.start(t);
  await cluster.submit({ id: 'any', entrypoint: 'echo hello', resources: { CPU: 1 } });
  await cluster.finish('any');
  await cluster.ask('POST', '/api/manta/v1/request-resources', { bundles: [{ resources: { CPU: 1 } }] });
  const there = readdirSync(cluster.folder.path, { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    // A file that is being written whole appears under a name of its own first.
    .filter((name) => !/^\.\d+-\d+\.new$/.test(name));
  for (const name of there) assert.ok(listed.includes(name), `'${name}' is there and not on the page`);
  const onlyAtTimes = ['command.lock', 'environments/', 'journal.db.damaged-<time>'];
  for (const name of listed)
    assert.ok(there.includes(name) || onlyAtTimes.includes(name), `'${name}' is on the page and not there`);
  for (const path of Object.values(cluster.folder.files))
    assert.ok(
      listed.some((name) => path.endsWith(`/${name.replace(/\/$/, '')}`)),
      `${path} is not on the page`,
    );
});
