import { templateVerdict } from './check/placeholders.ts';
import type { Environment } from './env.ts';
import type { ProviderTable } from './provider-table.ts';
import { type Resolution, resolveCluster } from './resolve.ts';
import type { ReadResult, Source } from './source.ts';
import { positionsOf } from './yaml/locate.ts';
import { readYamlBytes } from './yaml/read.ts';

/** Reads a cluster file; a template that is not YAML yet is recognised, with each of its placeholders. */
function readCluster(file: string, bytes: Uint8Array): ReadResult {
  const read = readYamlBytes(file, bytes);
  if ('source' in read) return read;
  const [failure] = read.problems;
  if (failure === undefined || bytes.length > 1024 * 1024) return read;
  const text = new TextDecoder().decode(bytes);
  const problems = templateVerdict(text, failure, positionsOf(text));
  return problems === undefined ? read : { problems };
}

/** As far as a file could be understood: its source when it is YAML, its spec when it resolves. */
export interface ParsedClusterFile extends Resolution {
  readonly source?: Source;
}

/** Reads and resolves a cluster file. Never throws. */
export function openCluster(
  file: string,
  bytes: Uint8Array,
  env: Environment,
  providers: ProviderTable,
): ParsedClusterFile {
  const read = readCluster(file, bytes);
  return 'source' in read
    ? { source: read.source, ...resolveCluster(read.source, env, providers) }
    : { problems: read.problems };
}
