import type { Run } from '../command.ts';
import { cliErrors } from '../errors.ts';

export const run: Run = () => Promise.reject(cliErrors.Internal({ what: "'manta host-key accept' has no code yet" }));
