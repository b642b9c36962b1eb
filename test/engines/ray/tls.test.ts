// needs: openssl, ray, hosts

import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { rayVersion } from '../../../scripts/ray-venv.ts';
import { aloneRay, testAlone } from './alone.ts';

test(`a real Ray ${rayVersion} with TLS is spoken to by its own certificates`, async (t) => {
  const python = aloneRay(t, rayVersion);
  if (python !== undefined) await testAlone(t, python, fileURLToPath(new URL('./inside-tls.ts', import.meta.url)));
});
