// needs: older-ray, ray, hosts

import { olderRayVersion } from '../../../scripts/ray-venv.ts';

process.env['MANTA_TEST_RAY'] = olderRayVersion;
await import('./contract.test.ts');
