import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { providerContract } from '../../../contract/provider-contract.ts';
import { TinyProvider } from './provider.ts';

const refusals = { 'no-capacity': 'NoCapacity', quota: 'Quota', throttled: 'Throttled', denied: 'Denied' } as const;

providerContract('tiny', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-tiny-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return {
    type: 'worker',
    provider: () => new TinyProvider({ folder }),
    refusing: (kind) => new TinyProvider({ folder, refuse: refusals[kind] }),
    limited: (room) => new TinyProvider({ folder, room }),
    losingAnswer: () => new TinyProvider({ folder, losesAnswer: true }),
  };
});
