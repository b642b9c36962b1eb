// needs: older-ray, ray, hosts

import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { olderRayVersion, rayVersion } from '../../../scripts/ray-venv.ts';
import { aloneRay, testAlone } from './alone.ts';

/** One after the other: each of them keeps a core busy. */
for (const version of [rayVersion, olderRayVersion])
  test(`both contracts, and what is Ray's own, hold on a real Ray ${version}`, async (t) => {
    const python = aloneRay(t, version);
    if (python !== undefined)
      await testAlone(t, python, fileURLToPath(new URL('./inside-contract.ts', import.meta.url)));
  });
