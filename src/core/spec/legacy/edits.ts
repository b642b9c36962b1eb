import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import { defaultsOf } from '../defaults.ts';
import { mapOf } from '../plain.ts';
import type { Path } from '../problem.ts';
import { factsOf, type ProviderTable } from '../provider-table.ts';
import { isMap, type Source } from '../source.ts';
import { legacySpeed, modernise, renamed, sharedStart } from './modernise.ts';
import { legacyHeadType, legacyWorkerType } from './node-types.ts';
import { SourceEdits } from './source-edits.ts';
import { type Edit, indented } from './text-edit.ts';

/** The edits that replace legacy keys with current ones. Comments stay; what cannot be edited is left alone. */
export const editsFor = (source: Source, providers: ProviderTable): readonly Edit[] =>
  new LegacyEditor(source, providers).edits();

class LegacyEditor {
  readonly #source: Source;
  readonly #text: SourceEdits;
  readonly #raw: PlainMap;
  readonly #modern: PlainMap;
  readonly #typeNames: readonly string[];
  readonly #isLocal: boolean;
  /** Top-level keys that go as a whole, at the end. */
  readonly #gone = new Set<string>();

  constructor(source: Source, providers: ProviderTable) {
    const raw = source.value as PlainMap;
    const facts = factsOf(providers, raw);
    const { value, typeNames } = modernise(source, defaultsOf(facts), facts);
    this.#source = source;
    this.#text = new SourceEdits(source);
    this.#raw = raw;
    this.#modern = value;
    this.#typeNames = typeNames;
    this.#isLocal = facts?.kind === 'own-hosts';
  }

  edits(): readonly Edit[] {
    this.#renameKeys();
    this.#prependSharedStart();
    this.#replaceSpeed();
    if (!this.#isLocal) this.#replaceNodes();
    this.#dropKeys();
    this.#setInitialWorkers();
    return this.#text.edits;
  }

  #renameKeys(): void {
    for (const [old, today] of Object.entries(renamed)) this.#rename([], old, today, this.#raw);
    if (isMap(this.#raw.provider)) this.#rename(['provider'], 'worker_node_ips', 'worker_ips', this.#raw.provider);
    for (const [name, type] of Object.entries(
      isMap(this.#raw.available_node_types) ? this.#raw.available_node_types : {},
    )) {
      if (!isMap(type)) continue;
      const path = ['available_node_types', name];
      this.#rename(path, 'setup_commands', 'worker_setup_commands', type);
      this.#rename(path, 'min_worker_nodes', 'min_workers', type);
      this.#rename(path, 'max_worker_nodes', 'max_workers', type);
    }
  }

  #rename(parent: Path, old: string, today: string, map: PlainMap): void {
    if (!Object.hasOwn(map, old)) return;
    const path = [...parent, old];
    const { key } = this.#source.rangeOf(path) ?? {};
    if (
      Object.hasOwn(map, today) ||
      (parent.length === 0 && (today === 'worker_default_node_type' || (today === 'min_workers' && !this.#isLocal)))
    ) {
      if (parent.length === 0) this.#gone.add(old);
      else this.#text.remove(path);
    } else if (key) this.#text.edit({ start: key.start, end: key.end, text: today });
  }

  #prependSharedStart(): void {
    const used = sharedStart.filter((key) => Object.hasOwn(this.#raw, key));
    if (used.length === 0) return;
    for (const key of used) this.#gone.add(key);
    for (const key of ['head_start_ray_commands', 'worker_start_ray_commands'] as const) {
      const original = Object.hasOwn(this.#raw, key)
        ? key
        : Object.keys(renamed).find((old) => Object.hasOwn(this.#raw, old) && renamed[old] === key);
      const range = original === undefined ? undefined : this.#source.rangeOf([original])?.value;
      const list = JSON.stringify(this.#modern[key]);
      if (range)
        this.#text.edit({ start: range.start, end: this.#text.endOfValue(range.start, range.end), text: list });
      else this.#text.insertLines(this.#source.text.length, [`${key}: ${list}`]);
    }
  }

  #replaceSpeed(): void {
    const speed = this.#raw.upscaling_speed === undefined ? legacySpeed(this.#raw) : undefined;
    for (const key of ['autoscaling_mode', 'target_utilization_fraction'] as const) {
      const place = Object.hasOwn(this.#raw, key) ? this.#source.rangeOf([key]) : undefined;
      if (!place?.key) continue;
      if (speed?.from === key)
        this.#text.edit({ start: place.key.start, end: place.value.end, text: `upscaling_speed: ${speed.value}` });
      else this.#gone.add(key);
    }
  }

  #replaceNodes(): void {
    const types = isMap(this.#modern.available_node_types) ? this.#modern.available_node_types : {};
    if (!('available_node_types' in this.#raw)) {
      if (this.#modern.available_node_types !== undefined) this.#writeNodeTypes(types);
      return;
    }
    for (const key of ['head_node', 'worker_nodes']) if (Object.hasOwn(this.#raw, key)) this.#gone.add(key);
    for (const [name, type] of Object.entries(types)) if (isMap(type)) this.#editNodeType(name, type);
    if (this.#modern.head_node_type !== this.#raw.head_node_type && this.#modern.head_node_type !== undefined) {
      const lines = this.#text.linesOf(['available_node_types']);
      if (lines) this.#text.insertLines(lines.end, [`head_node_type: ${String(this.#modern.head_node_type)}`]);
    }
  }

  /** `head_node` and `worker_nodes` become node types; the text of each becomes its node_config. */
  #writeNodeTypes(types: PlainMap): void {
    const blocks: string[] = [];
    for (const name of this.#typeNames) {
      const { node_config: launch, ...rest } = ownValue(types, name) as PlainMap;
      const old = name === legacyHeadType ? 'head_node' : name === legacyWorkerType ? 'worker_nodes' : undefined;
      const own = old === undefined ? undefined : this.#nodeText(old);

      const facts = Object.entries(rest).map(
        ([key, value]) => `        ${key}: ${JSON.stringify(value)}${this.#text.newline}`,
      );
      const config =
        own ?? `${this.#commentLines(old)}        node_config: ${JSON.stringify(launch ?? {})}${this.#text.newline}`;
      blocks.push(`    ${nameText(name)}:${this.#text.newline}${facts.join('')}${config}`);
    }
    const places = ['head_node', 'worker_nodes'].flatMap((key) =>
      Object.hasOwn(this.#raw, key) ? [{ key, lines: this.#text.linesOf([key]) }] : [],
    );
    const [first, second] = places.sort((a, b) => (a.lines?.start ?? 0) - (b.lines?.start ?? 0));
    for (const key of ['available_instance_types', 'available_instances'])
      if (Object.hasOwn(this.#raw, key)) this.#gone.add(key);
    if (isMap(this.#raw.provider) && 'available_instance_types' in this.#raw.provider)
      this.#text.remove(['provider', 'available_instance_types']);
    if (!first?.lines) {
      this.#text.insertLines(this.#source.text.length, [
        `available_node_types:${this.#text.newline}${blocks.join('')}head_node_type: ${legacyHeadType}`,
      ]);
      return;
    }
    const between = second?.lines ? this.#source.text.slice(first.lines.end, second.lines.start) : '';
    const tail = `head_node_type: ${legacyHeadType}${this.#text.newline}`;
    const inPlace =
      second?.lines &&
      first.key === 'head_node' &&
      blocks.length === 2 &&
      between.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line));
    if (inPlace && second.lines) {
      this.#text.edit({ ...first.lines, text: `available_node_types:${this.#text.newline}${blocks[0] as string}` });
      this.#text.edit({ ...second.lines, text: `${blocks[1] as string}${tail}` });
      return;
    }
    this.#text.edit({ ...first.lines, text: `available_node_types:${this.#text.newline}${blocks.join('')}${tail}` });
    if (second) this.#moveAway(second.key);
  }

  /** Takes out a node whose text stands elsewhere now; its comments stay only where that text has none of them. */
  #moveAway(key: string): void {
    const lines = this.#text.linesOf([key]);
    if (lines) this.#text.edit({ ...lines, text: '' });
    const isType = key === 'head_node' || Object.hasOwn(mapOf(this.#modern.available_node_types), legacyWorkerType);
    if (lines && !isType) this.#text.insertLines(lines.end, this.#text.commentsIn(lines));
  }

  /** The comments of a legacy node whose text goes. */
  #commentLines(key: string | undefined): string {
    const lines = key !== undefined && Object.hasOwn(this.#raw, key) ? this.#text.linesOf([key]) : undefined;
    return lines
      ? this.#text
          .commentsIn(lines)
          .map((comment) => `        ${comment}${this.#text.newline}`)
          .join('')
      : '';
  }

  /** The lines of a legacy node as a node_config eight columns further in; undefined where its text cannot be kept. */
  #nodeText(key: string): string | undefined {
    const value = ownValue(this.#raw, key);
    const lines = Object.hasOwn(this.#raw, key) ? this.#text.linesOf([key]) : undefined;
    const place = this.#source.rangeOf([key]);
    if (!lines || !place?.key || !isMap(value) || Object.keys(value).length === 0 || 'resources' in value)
      return undefined;
    const block = this.#source.text.slice(place.key.end, lines.end);
    const ended = block.endsWith('\n') ? block : block + this.#text.newline;
    const [head = '', ...rest] = ended.split('\n');
    return `        node_config${head}\n${indented(rest.join('\n'), 8)}`;
  }

  /** What a legacy key adds to a node type that the file lists. */
  #editNodeType(name: string, type: PlainMap): void {
    const own = isMap(this.#raw.available_node_types) ? ownValue(this.#raw.available_node_types, name) : undefined;
    const path = ['available_node_types', name];
    if (own === undefined) {
      const sibling = this.#text.linesOf([
        'available_node_types',
        this.#source.keys(['available_node_types'])[0] ?? '',
      ]);
      if (sibling)
        this.#text.insertLines(sibling.start, [`${sibling.indent}${nameText(name)}: ${JSON.stringify(type)}`]);
      return;
    }
    if (!isMap(own)) return;
    const first = this.#text.linesOf([...path, this.#source.keys(path)[0] ?? '']);
    const add = (key: string, value: Plain | undefined): void => {
      if (first) this.#text.insertLines(first.start, [`${first.indent}${key}: ${JSON.stringify(value)}`]);
    };
    if (!('resources' in own)) add('resources', {});
    if (type.min_workers !== undefined && type.min_workers !== (own.min_workers ?? own.min_worker_nodes)) {
      const given = this.#source.rangeOf([...path, 'min_workers'])?.value;
      if (given) this.#text.edit({ ...given, text: String(type.min_workers) });
      else add('min_workers', type.min_workers);
    }
    this.#editLaunchConfig(
      path,
      isMap(own.node_config) ? own.node_config : undefined,
      isMap(type.node_config) ? type.node_config : {},
      add,
    );
  }

  #editLaunchConfig(
    path: Path,
    own: PlainMap | undefined,
    wanted: PlainMap,
    add: (key: string, value: Plain) => void,
  ): void {
    const place = this.#source.rangeOf([...path, 'node_config']);
    if (!place) {
      add('node_config', wanted);
      return;
    }
    const missing = Object.entries(wanted).filter(([key]) => own === undefined || !Object.hasOwn(own, key));
    if (missing.length === 0) return;
    const first =
      own === undefined
        ? undefined
        : this.#text.linesOf([...path, 'node_config', this.#source.keys([...path, 'node_config'])[0] ?? '']);
    if (first)
      this.#text.insertLines(
        first.start,
        missing.map(([key, value]) => `${first.indent}${key}: ${JSON.stringify(value)}`),
      );
    else
      this.#text.edit({
        ...place.value,
        text: `${place.value.start === place.key?.end ? ' ' : ''}${JSON.stringify(wanted)}`,
      });
  }

  #dropKeys(): void {
    const dropped = this.#isLocal
      ? [
          'head_node',
          'worker_nodes',
          'initial_workers',
          'worker_default_node_type',
          ...('available_node_types' in this.#raw ? [] : ['head_node_type']),
        ]
      : ['min_workers', 'initial_workers', 'worker_default_node_type'];
    for (const key of new Set([...dropped, ...this.#gone])) if (Object.hasOwn(this.#raw, key)) this.#text.remove([key]);
    if (isMap(this.#raw.docker) && 'install_docker' in this.#raw.docker) {
      const place = this.#source.rangeOf(['docker']);
      if (Object.keys(this.#raw.docker).length > 1) this.#text.remove(['docker', 'install_docker']);
      else if (place) this.#text.edit({ ...place.value, text: '{}' });
    }
  }

  #setInitialWorkers(): void {
    const given = isMap(this.#raw.provider) && isMap(this.#raw.provider.manta) ? this.#raw.provider.manta : undefined;
    const wanted = isMap(this.#modern.provider) ? this.#modern.provider.manta : undefined;
    if (!isMap(wanted) || given !== undefined) return;
    const provider = isMap(this.#raw.provider) ? this.#raw.provider : {};
    const last = this.#source.keys(['provider']).at(-1) ?? '';
    const lines = this.#text.linesOf(['provider', last]);
    if (lines) this.#text.insertLines(lines.end, [`${lines.indent}manta: ${JSON.stringify(wanted)}`]);
    else
      this.#text.edit({
        ...(this.#source.rangeOf(['provider'])?.value as { start: number; end: number }),
        text: JSON.stringify({ ...provider, manta: wanted }),
      });
  }
}

const nameText = (name: string): string => (/^[A-Za-z_][\w.-]*$/.test(name) ? name : JSON.stringify(name));
