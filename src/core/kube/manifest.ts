import type { Finding } from '../finding.ts';
import type { Path, Position } from '../spec/problem.ts';
import type { Source } from '../spec/source.ts';
import { asKubectl } from '../spec/yaml/go.ts';
import { readYaml } from '../spec/yaml/read.ts';
import { isMap, type Json, type JsonMap, textAt } from './object.ts';

/** One object of a file, as it is sent to the API server. */
export interface Manifest {
  readonly file: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly object: JsonMap;
  /** Position of a value; of the nearest one above it when it is not written. */
  at(path: Path): Position;
  /** Position of a character of the text at a path, by its line and column there; of the text itself if it is not a block (`|`). */
  within(path: Path, at: Position): Position;
}

/** One of KubeRay's CRDs has more than a megabyte. */
const biggest = 8 << 20;

const legacyGroup = 'cluster.ray.io';

/** The objects of a text, in order, with all that keeps them from being objects. `v1alpha1` of KubeRay is read as `v1`. */
export function readManifests(
  file: string,
  text: string,
): { readonly manifests: readonly Manifest[]; readonly findings: readonly Finding[] } {
  const template = text.split('\n').findIndex((each) => !each.trimStart().startsWith('#') && each.includes('{{'));
  if (template >= 0) {
    const line = template + 1;
    const next = "render it first: 'helm template RELEASE CHART > rendered.yaml'";
    return {
      manifests: [],
      findings: [
        { severity: 'error', file, at: { line, column: 1 }, says: 'this is a Helm template, not a manifest', next },
      ],
    };
  }
  const manifests: Manifest[] = [];
  const findings: Finding[] = [];
  for (const document of documentsOf(text)) {
    const read = readYaml(file, document, asKubectl, biggest);
    if ('problems' in read) {
      for (const { at, message, hint = '' } of read.problems)
        findings.push({ severity: 'error', file, at, says: message, next: hint });
      continue;
    }
    for (const object of objectsOf(read.source.value as Json)) {
      const manifest = manifestOf(file, object.value, object.path, read.source);
      if ('says' in manifest) findings.push(manifest);
      else manifests.push(manifest);
    }
  }
  return { manifests, findings };
}

/** Documents of a file, each behind as many empty lines as stand before it, so that positions hold. */
function documentsOf(text: string): readonly string[] {
  const documents: string[] = [];
  let lines: string[] = [];
  let before = 0;
  const all = text.split('\n');
  all.forEach((line, at) => {
    if (/^---(?:\s|$)/.test(line)) {
      documents.push('\n'.repeat(before) + lines.join('\n'));
      before = at;
      lines = [line.replace(/^---/, '   ')];
    } else lines.push(line);
  });
  documents.push('\n'.repeat(before) + lines.join('\n'));
  return documents.filter(hasContent);
}

const hasContent = (document: string): boolean =>
  document.split('\n').some((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));

/** A `List` stands for its items. */
function objectsOf(value: Json): readonly { readonly value: Json; readonly path: Path }[] {
  const items = isMap(value) && textAt(value, 'kind') === 'List' ? value['items'] : undefined;
  if (!Array.isArray(items)) return [{ value, path: [] }];
  return (items as readonly Json[]).map((item, at) => ({ value: item, path: ['items', at] }));
}

function manifestOf(file: string, value: Json, path: Path, source: Source): Manifest | Finding {
  const at = (more: Path): Position => source.at([...path, ...more]);
  const refuse = (where: Path, says: string, next: string): Finding => ({
    severity: 'error',
    file,
    at: at(where),
    says,
    next,
  });
  if (!isMap(value))
    return refuse([], 'this document is not an object', 'a manifest has apiVersion, kind, metadata and spec');
  const [apiVersion, kind, name] = [
    textAt(value, 'apiVersion'),
    textAt(value, 'kind'),
    textAt(value, 'metadata', 'name'),
  ];
  if (apiVersion === undefined || kind === undefined)
    return refuse(
      [],
      'this document has no apiVersion or no kind',
      'add both, as in: apiVersion: ray.io/v1, kind: RayCluster',
    );
  if (apiVersion.startsWith(`${legacyGroup}/`))
    return refuse(
      ['apiVersion'],
      `'${apiVersion}' belongs to the operator that KubeRay replaced`,
      'write it as apiVersion: ray.io/v1 with headGroupSpec and workerGroupSpecs',
    );
  if (name === undefined || name === '')
    return refuse(
      ['metadata'],
      `this ${kind} has no name`,
      'add metadata.name: with only generateName, every apply would create another one',
    );
  const object = apiVersion === 'ray.io/v1alpha1' ? { ...value, apiVersion: 'ray.io/v1' } : value;
  const within: Manifest['within'] = (more, inner) => positionIn(source, [...path, ...more], inner);
  return { file, kind, name, namespace: textAt(value, 'metadata', 'namespace'), object, at, within };
}

/** A block begins on the line behind its `|`, and all of its lines are indented by as much as the first one. */
function positionIn(source: Source, path: Path, inner: Position): Position {
  const at = source.at(path);
  const range = source.rangeOf(path)?.value;
  const written = range === undefined ? '' : source.text.slice(range.start, range.end);
  if (!written.startsWith('|')) return at;
  const first = written.split('\n').find((line, index) => index > 0 && line.trim() !== '') ?? '';
  const indent = first.length - first.trimStart().length;
  return { line: at.line + inner.line, column: indent + inner.column };
}
