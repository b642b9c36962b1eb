import { rayVersion, releaseOf } from '../../ray-version.ts';
import type { Path, Problem } from '../problem.ts';
import type { Source } from '../source.ts';

/** Text of the file in a message is cut. */
const LONGEST = 300;

interface RayProblem {
  readonly code: string;
  readonly title: string;
  readonly meaning: string;
}

const declare = (what: string, title: string, meaning: string): RayProblem => ({
  code: `MANTA_SPEC_RAY_${what}`,
  title,
  meaning,
});

/** Reasons for Ray to refuse a file, each with its own code; `docs/errors.md` lists them. */
export const rayProblems = {
  shape: declare(
    'SHAPE',
    'Ray cannot read the file',
    'Part of the file has the wrong type, so Ray cannot fill in its defaults.',
  ),
  provider: declare(
    'PROVIDER',
    'a provider that Ray does not know',
    'The file has no provider, or one that this version of Ray does not have.',
  ),
  legacy: declare(
    'LEGACY',
    'half of a legacy file',
    'A file that has head_node or worker_nodes, but no available_node_types, needs both.',
  ),
  onPremise: declare(
    'ON_PREMISE',
    'an invalid on-premises cluster',
    'A file for the provider local must name head_ip and worker_ips, or coordinator_address and max_workers, and no node types.',
  ),
  container: declare(
    'CONTAINER',
    'a container without image or name',
    'Ray needs both an image and a container_name under docker, or neither.',
  ),
  key: declare(
    'KEY',
    'a key that Ray refuses',
    "Outside provider, node_config, file_mounts and metadata, Ray's schema allows only its own keys.",
  ),
  missing: declare('MISSING', 'a key that Ray requires', "Ray's schema requires a key that is not there."),
  type: declare('TYPE', 'a value of the wrong type', "The value is not of the type that Ray's schema asks for."),
  range: declare('RANGE', 'a value out of range', "The value is not one that Ray's schema allows."),
  limits: declare(
    'LIMITS',
    'limits that contradict each other',
    'The sum of min_workers of all node types is more than max_workers.',
  ),
  head: declare('HEAD', 'an unknown head node type', 'head_node_type must be one of available_node_types.'),
} as const satisfies Record<string, RayProblem>;

/** Ends the preparation of a config; never leaves this folder. */
export class RayConfigError extends Error {
  readonly problem: RayProblem;
  readonly path: Path;
  readonly hint: string | undefined;

  constructor(problem: RayProblem, path: Path, message: string, hint?: string) {
    super(message);
    this.problem = problem;
    this.path = path;
    this.hint = hint;
  }
}

/** A problem at a key, or at a value where the key is fine. */
export function rayProblem(
  source: Source,
  problem: RayProblem,
  path: Path,
  message: string,
  options: { key?: boolean; hint?: string | undefined } = {},
): Problem {
  return {
    code: problem.code,
    severity: 'error',
    at: options.key ? source.keyAt(path) : source.at(path),
    path,
    message: `Ray ${releaseOf(rayVersion)} refuses this: ${message.length > LONGEST ? `${message.slice(0, LONGEST)}…` : message}`,
    ...(options.hint !== undefined && { hint: options.hint }),
  };
}
