import type { Run } from '../command.ts';
import { cliErrors } from '../errors.ts';

export const run: Run = () => Promise.reject(cliErrors.Internal({ what: "'manta ssh' has no code yet" }));
