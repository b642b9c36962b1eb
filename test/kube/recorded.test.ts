/** Commands against answers that a real API server gave; the lab's `kube-recordings` finds out when it gives others. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runManta } from '../cli/run-manta.ts';
import { plainConfig, readRecording, replay, scenarios } from './recordings.ts';

describe('with answers of a real API server', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'manta-recorded-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const { name, words, manifest, user } of scenarios)
    test(`${name}: '${words.join(' ')}' says what it said there`, async () => {
      const recorded = readRecording(name);
      const server = await replay(recorded.exchanges);
      try {
        const file = join(folder, `${name}.yaml`);
        writeFileSync(file, manifest ?? '');
        writeFileSync(join(folder, 'config'), plainConfig(server.url, user && 'a-token'));
        const told = words.map((word) => (word === 'FILE' ? file : word));
        const { exit, stdout, stderr } = await runManta(told, {
          KUBECONFIG: join(folder, 'config'),
          MANTA_HOME: folder,
        });
        assert.deepEqual(server.unknown, [], 'it asks for nothing else');
        const plain = (text: string): string => text.replaceAll(file, 'FILE').replaceAll(server.url, 'http://SERVER');
        assert.deepEqual(
          { exit, stdout: plain(stdout), stderr: plain(stderr) },
          { exit: recorded.exit, stdout: recorded.stdout, stderr: recorded.stderr },
        );
      } finally {
        server.close();
      }
    });
});
