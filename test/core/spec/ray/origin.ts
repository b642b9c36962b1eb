import { ownValue } from '../../../../src/base/own-value.ts';

import type { Plain } from '../../../../src/core/spec/cluster.ts';
import type { Path } from '../../../../src/core/spec/problem.ts';
import { LEGACY_HEAD, LEGACY_WORKER } from '../../../../src/core/spec/ray/legacy.ts';
import { ON_PREMISE_TYPE } from '../../../../src/core/spec/ray/on-premise.ts';
import { isMap } from '../../../../src/core/spec/source.ts';

/** Where a part of a prepared config comes from in the file; the same path for what the preparation left in place. */
export function originOf(path: Path, file: Plain): Path {
  if (!isMap(file)) return path;
  const [first, second] = path;
  if (first === 'available_node_types' && typeof second === 'string')
    return originOfType(path, file.available_node_types, second);
  if ((first === 'head_setup_commands' || first === 'worker_setup_commands') && typeof second === 'number') {
    const shared = Array.isArray(file.setup_commands) ? file.setup_commands.length : 0;
    return second < shared ? ['setup_commands', second] : [first, second - shared];
  }
  return path;
}

function originOfType(path: Path, types: Plain | undefined, name: string): Path {
  const [, , third, ...rest] = path;
  const type = isMap(types) ? ownValue(types, name) : undefined;
  if (third === 'max_workers' && !(isMap(type) && Object.hasOwn(type, third))) return ['max_workers'];
  if (type !== undefined) return path;
  if (third === 'min_workers' && (name === ON_PREMISE_TYPE || name === LEGACY_WORKER)) return ['min_workers'];
  if (name !== LEGACY_HEAD && name !== LEGACY_WORKER) return path;
  const key = name === LEGACY_HEAD ? 'head_node' : 'worker_nodes';
  if (third === 'node_config') return [key, ...rest];
  return third === undefined ? [key] : [key, third, ...rest];
}
