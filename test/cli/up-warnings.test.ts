import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EventSink } from '../../src/base/events.ts';
import { warnOfFile } from '../../src/cli/commands/up/warnings.ts';
import { launcherEvents } from '../../src/launcher/events.ts';
import { openRemote } from '../../src/launcher/reach/remote-cluster.ts';
import { readConfig } from '../../src/state/load-spec.ts';

test('a key that is not on this machine is told, once, and one that is there is not', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-warnings-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'there'), '');
  const missing = (key: string): string[] => {
    const text = `cluster_name: team
provider: {type: local, head_ip: 10.0.0.1, worker_ips: [10.0.0.2]}
auth: {ssh_user: ray, ssh_private_key: ${key}}
`;
    const cluster = openRemote({ home: folder, file: readConfig({ path: 'cluster.yaml', text, env: {} }) });
    const told: string[] = [];
    const events: EventSink = {
      emit: (kind, data) => {
        if (kind.code === launcherEvents.keyMissing.code) told.push(kind.text(data));
      },
    };
    warnOfFile(cluster, { events });
    return told;
  };
  assert.equal(missing(join(folder, 'not-there')).length, 1);
  assert.match(missing('~/.ssh/no-such-key-of-anybody')[0]!, /'~\/\.ssh\/no-such-key-of-anybody'/);
  assert.deepEqual(missing(join(folder, 'there')), []);
});
