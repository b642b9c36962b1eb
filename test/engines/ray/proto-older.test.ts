// needs: older-ray

import { olderRayVersion } from '../../../scripts/ray-venv.ts';

process.env['MANTA_TEST_RAY'] = olderRayVersion;
await import('./proto.test.ts');
