import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ClusterSpec } from '../../../src/core/spec/cluster.ts';
import type { Environment } from '../../../src/core/spec/env.ts';
import { openCluster, type ParsedClusterFile } from '../../../src/core/spec/read.ts';
import { providers } from '../../../src/providers/table.ts';

export const open = (text: string, env: Environment = {}): ParsedClusterFile =>
  openCluster('cluster.yaml', Buffer.from(text), env, providers);

/** The spec of a text that must resolve without an error. */
export function specOf(text: string, env: Environment = {}): ClusterSpec {
  const { spec, problems } = open(text, env);
  assert.deepEqual(
    problems.filter((problem) => problem.severity === 'error').map((problem) => problem.message),
    [],
  );
  assert.ok(spec);
  return spec;
}

/** `line:column code` of each problem, with `MANTA_SPEC_` left out. */
export const codesOf = (text: string, env: Environment = {}): string[] =>
  open(text, env).problems.map(({ at, code }) => `${at.line}:${at.column} ${code.replace('MANTA_SPEC_', '')}`);

export const typeOf = (spec: ClusterSpec, name: string): ClusterSpec['nodeTypes'][number] => {
  const type = spec.nodeTypes.find((each) => each.name === name);
  assert.ok(type, `no node type '${name}'`);
  return type;
};

/** An aws cluster that nothing can be said against; `more` is put behind it. */
export const aws = (more = ''): string => `cluster_name: test
provider: {type: aws, region: us-west-2, availability_zone: us-west-2a, cache_stopped_nodes: false}
${more}`;

const corpusFolder = fileURLToPath(new URL('../../../../shared/corpus/clusters/', import.meta.url));

export interface CorpusFile {
  readonly name: string;
  readonly era: string;
  readonly ray: string;
  readonly bytes: Buffer;
}

/** Real cluster files of every era; undefined where the collection is not beside the repository. */
export function corpus(): readonly CorpusFile[] | undefined {
  if (!existsSync(`${corpusFolder}INDEX.tsv`)) return undefined;
  const rows = readFileSync(`${corpusFolder}INDEX.tsv`, 'utf8').trim().split('\n').slice(1);
  return rows.map((row) => {
    const [name = '', , , era = '', , , , ray = ''] = row.split('\t');
    return { name, era, ray, bytes: readFileSync(corpusFolder + name) };
  });
}

export const noCorpus = 'the collection of cluster files (../shared/corpus) is not there';
