// needs: ray, hosts

import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clientVersion } from '../../jobs/ray-python.ts';
import { aloneRay, testAlone } from './alone.ts';

test(`both contracts, and what is Ray's own, hold on a real Ray ${clientVersion}`, async (t) => {
  const python = aloneRay(t, clientVersion);
  if (python !== undefined) await testAlone(t, python, fileURLToPath(new URL('./inside-contract.ts', import.meta.url)));
});
