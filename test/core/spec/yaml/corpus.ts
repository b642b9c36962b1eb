import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Real cluster files with what PyYAML and Ray make of them; beside the repository, never in it. */
const folder = join(import.meta.dirname, '../../../../../shared/corpus/clusters');

/** Why tests over the corpus cannot run, or false. */
export const corpusMissing: string | false = existsSync(join(folder, 'INDEX.tsv'))
  ? false
  : 'the corpus of cluster files (../shared/corpus) is not beside the repository';

export interface CorpusFile {
  readonly name: string;
  readonly text: string;
  /** `ACCEPT`, `REJECT …`, `PREPFAIL …` or `YAMLERR`. */
  readonly verdict: string;
  /** JSON text of what `safe_load` gives; absent where it refuses, and for templates. */
  readonly value: string | undefined;
  /** JSON text of what `prepare_config` gives. */
  readonly prepared: string | undefined;
}

export function corpusFiles(): CorpusFile[] {
  const [heading, ...rows] = readFileSync(join(folder, 'INDEX.tsv'), 'utf8').trimEnd().split('\n');
  const column = heading?.split('\t').indexOf('ray258') as number;
  return rows.map((row) => {
    const cells = row.split('\t');
    const name = cells[0] as string;
    const stem = name.replace(/\.ya?ml(\.tmpl)?$/, '');
    return {
      name,
      text: readFileSync(join(folder, name), 'utf8'),
      verdict: cells[column] as string,
      value: readIfThere(join(folder, 'json', `${stem}.json`)),
      prepared: readIfThere(join(folder, 'oracle', `${stem}.prepared.json`)),
    };
  });
}

/** Texts to mutate: the corpus where it is, else a few of the kind. */
export function sampleTexts(): string[] {
  if (corpusMissing) return [sample, sample.replaceAll('\n', '\r\n')];
  return readdirSync(folder)
    .filter((name) => /\.(ya?ml|tmpl)$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}

function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

const sample = `# A cluster
cluster_name: sample
max_workers: 4
provider: {type: aws, region: us-west-2, cache_stopped_nodes: no}
auth: &auth
  ssh_user: ubuntu
available_node_types:
  head: &type
    resources: {"CPU": 2}
    node_config:
      InstanceType: m5.large
      BlockDeviceMappings:
      - DeviceName: /dev/sda1
        Ebs: {VolumeSize: 140}
  worker:
    <<: *type
    min_workers: 1
head_node_type: head
setup_commands:
  - >-
    (stat /opt/conda &&
    echo 'export PATH="/opt/conda/bin:$PATH"' >> ~/.bashrc) || true
  - |
    pip install ray
  - "echo \\"done\\""
`;
