import { ownValue } from '../../../base/own-value.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import { defaultsOf } from '../defaults.ts';
import { mapOf } from '../plain.ts';
import type { Path } from '../problem.ts';
import { isMap, type Source } from '../source.ts';
import { legacyHeadType, legacySpeed, legacyWorkerType, modernise, renamed, sharedStart } from './modernise.ts';
import { type Edit, indented, lineStart, newlineOf, nextLine } from './text-edit.ts';

/** The edits that put the keys of today in place of legacy ones. Comments stay; what cannot be edited is left alone. */
export function editsFor(source: Source): Edit[] {
  const raw = source.value as PlainMap;
  const { value: modern, typeNames } = modernise(source, defaultsOf(raw));
  const text = source.text;
  const newline = newlineOf(text);
  const edits: Edit[] = [];
  const gone = new Set<string>();
  const isLocal = isMap(raw.provider) && raw.provider.type === 'local';

  renameKeys();
  prependSharedStart();
  replaceSpeed();
  if (!isLocal) replaceNodes();
  dropKeys();
  setInitialWorkers();
  return edits;

  /** Lines of a key with its value; undefined where the key does not begin its line. */
  function linesOf(path: Path): { readonly start: number; readonly end: number; readonly indent: string } | undefined {
    const place = source.rangeOf(path);
    if (!place?.key || place.shared) return undefined;
    const start = lineStart(text, place.key.start);
    const indent = text.slice(start, place.key.start);
    if (indent.trim() !== '') return undefined;
    const last = Math.max(place.key.end, place.value.end);
    return { start, end: nextLine(text, endOfValue(place.key.end, last)), indent };
  }

  /** A block's value may end with the line break itself. */
  function endOfValue(key: number, end: number): number {
    return end > key && text[end - 1] === '\n' ? end - 1 : end;
  }

  /** Takes a key out; its comments stay where they are. */
  function remove(path: Path): void {
    const lines = linesOf(path);
    if (!lines) return;
    const comments = commentsIn(lines).map((comment) => lines.indent + comment + newline);
    edits.push({ start: lines.start, end: lines.end, text: comments.join('') });
  }

  /** The comments of some lines, whole ones and those behind a value. */
  function commentsIn(lines: { readonly start: number; readonly end: number }): readonly string[] {
    return Array.from(
      text.slice(lines.start, lines.end).matchAll(/(?:^|[ \t])(#[^\r\n]*)/gm),
      (match) => match[1] as string,
    );
  }

  function insertLines(offset: number, lines: readonly string[]): void {
    const before = offset > 0 && text[offset - 1] !== '\n' ? newline : '';
    edits.push({ start: offset, end: offset, text: before + lines.map((line) => line + newline).join('') });
  }

  function renameKeys(): void {
    for (const [old, today] of Object.entries(renamed)) rename([], old, today, raw);
    if (isMap(raw.provider)) rename(['provider'], 'worker_node_ips', 'worker_ips', raw.provider);
    for (const [name, type] of Object.entries(isMap(raw.available_node_types) ? raw.available_node_types : {})) {
      if (!isMap(type)) continue;
      const path = ['available_node_types', name];
      rename(path, 'setup_commands', 'worker_setup_commands', type);
      rename(path, 'min_worker_nodes', 'min_workers', type);
      rename(path, 'max_worker_nodes', 'max_workers', type);
    }
  }

  function rename(parent: Path, old: string, today: string, map: PlainMap): void {
    if (!Object.hasOwn(map, old)) return;
    const path = [...parent, old];
    const { key } = source.rangeOf(path) ?? {};
    if (
      Object.hasOwn(map, today) ||
      (parent.length === 0 && (today === 'worker_default_node_type' || (today === 'min_workers' && !isLocal)))
    ) {
      if (parent.length === 0) gone.add(old);
      else remove(path);
    } else if (key) edits.push({ start: key.start, end: key.end, text: today });
  }

  function prependSharedStart(): void {
    const used = sharedStart.filter((key) => Object.hasOwn(raw, key));
    if (used.length === 0) return;
    for (const key of used) gone.add(key);
    for (const key of ['head_start_ray_commands', 'worker_start_ray_commands'] as const) {
      const original = Object.hasOwn(raw, key)
        ? key
        : Object.keys(renamed).find((old) => Object.hasOwn(raw, old) && renamed[old] === key);
      const range = original === undefined ? undefined : source.rangeOf([original])?.value;
      const list = JSON.stringify(modern[key]);
      if (range) edits.push({ start: range.start, end: endOfValue(range.start, range.end), text: list });
      else insertLines(text.length, [`${key}: ${list}`]);
    }
  }

  function replaceSpeed(): void {
    const speed = raw.upscaling_speed === undefined ? legacySpeed(raw) : undefined;
    for (const key of ['autoscaling_mode', 'target_utilization_fraction'] as const) {
      const place = Object.hasOwn(raw, key) ? source.rangeOf([key]) : undefined;
      if (!place?.key) continue;
      if (speed?.from === key)
        edits.push({ start: place.key.start, end: place.value.end, text: `upscaling_speed: ${speed.value}` });
      else gone.add(key);
    }
  }

  function replaceNodes(): void {
    const types = isMap(modern.available_node_types) ? modern.available_node_types : {};
    if (!('available_node_types' in raw)) {
      if (modern.available_node_types !== undefined) writeNodeTypes(types);
      return;
    }
    for (const key of ['head_node', 'worker_nodes']) if (Object.hasOwn(raw, key)) gone.add(key);
    for (const [name, type] of Object.entries(types)) if (isMap(type)) editNodeType(name, type);
    if (modern.head_node_type !== raw.head_node_type && modern.head_node_type !== undefined) {
      const lines = linesOf(['available_node_types']);
      if (lines) insertLines(lines.end, [`head_node_type: ${String(modern.head_node_type)}`]);
    }
  }

  /** `head_node` and `worker_nodes` become node types; the text of each becomes its node_config. */
  function writeNodeTypes(types: PlainMap): void {
    const blocks: string[] = [];
    for (const name of typeNames) {
      const { node_config: launch, ...rest } = ownValue(types, name) as PlainMap;
      const old = name === legacyHeadType ? 'head_node' : name === legacyWorkerType ? 'worker_nodes' : undefined;
      const own = old === undefined ? undefined : nodeText(old);

      const facts = Object.entries(rest).map(([key, value]) => `        ${key}: ${JSON.stringify(value)}${newline}`);
      const config = own ?? `${commentLines(old)}        node_config: ${JSON.stringify(launch ?? {})}${newline}`;
      blocks.push(`    ${nameText(name)}:${newline}${facts.join('')}${config}`);
    }
    const places = ['head_node', 'worker_nodes'].flatMap((key) =>
      Object.hasOwn(raw, key) ? [{ key, lines: linesOf([key]) }] : [],
    );
    const [first, second] = places.sort((a, b) => (a.lines?.start ?? 0) - (b.lines?.start ?? 0));
    for (const key of ['available_instance_types', 'available_instances']) if (Object.hasOwn(raw, key)) gone.add(key);
    if (isMap(raw.provider) && 'available_instance_types' in raw.provider)
      remove(['provider', 'available_instance_types']);
    if (!first?.lines) {
      insertLines(text.length, [`available_node_types:${newline}${blocks.join('')}head_node_type: ${legacyHeadType}`]);
      return;
    }
    const between = second?.lines ? text.slice(first.lines.end, second.lines.start) : '';
    const tail = `head_node_type: ${legacyHeadType}${newline}`;
    const inPlace =
      second?.lines &&
      first.key === 'head_node' &&
      blocks.length === 2 &&
      between.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line));
    if (inPlace && second.lines) {
      edits.push({ ...first.lines, text: `available_node_types:${newline}${blocks[0] as string}` });
      edits.push({ ...second.lines, text: `${blocks[1] as string}${tail}` });
      return;
    }
    edits.push({ ...first.lines, text: `available_node_types:${newline}${blocks.join('')}${tail}` });
    if (second) moveAway(second.key);
  }

  /** Takes out a node whose text stands elsewhere now; its comments stay only where that text has none of them. */
  function moveAway(key: string): void {
    const lines = linesOf([key]);
    if (lines) edits.push({ ...lines, text: '' });
    const isType = key === 'head_node' || Object.hasOwn(mapOf(modern.available_node_types), legacyWorkerType);
    if (lines && !isType) insertLines(lines.end, commentsIn(lines));
  }

  /** The comments of a legacy node whose text goes. */
  function commentLines(key: string | undefined): string {
    const lines = key !== undefined && Object.hasOwn(raw, key) ? linesOf([key]) : undefined;
    return lines
      ? commentsIn(lines)
          .map((comment) => `        ${comment}${newline}`)
          .join('')
      : '';
  }

  /** The lines of a legacy node as a node_config eight columns further in; undefined where its text cannot be kept. */
  function nodeText(key: string): string | undefined {
    const value = ownValue(raw, key);
    const lines = Object.hasOwn(raw, key) ? linesOf([key]) : undefined;
    const place = source.rangeOf([key]);
    if (!lines || !place?.key || !isMap(value) || Object.keys(value).length === 0 || 'resources' in value)
      return undefined;
    const block = text.slice(place.key.end, lines.end);
    const ended = block.endsWith('\n') ? block : block + newline;
    const [head = '', ...rest] = ended.split('\n');
    return `        node_config${head}\n${indented(rest.join('\n'), 8)}`;
  }

  /** What a legacy key adds to a node type that the file lists. */
  function editNodeType(name: string, type: PlainMap): void {
    const own = isMap(raw.available_node_types) ? ownValue(raw.available_node_types, name) : undefined;
    const path = ['available_node_types', name];
    if (own === undefined) {
      const sibling = linesOf(['available_node_types', source.keys(['available_node_types'])[0] ?? '']);
      if (sibling) insertLines(sibling.start, [`${sibling.indent}${nameText(name)}: ${JSON.stringify(type)}`]);
      return;
    }
    if (!isMap(own)) return;
    const first = linesOf([...path, source.keys(path)[0] ?? '']);
    const add = (key: string, value: Plain | undefined): void => {
      if (first) insertLines(first.start, [`${first.indent}${key}: ${JSON.stringify(value)}`]);
    };
    if (!('resources' in own)) add('resources', {});
    if (type.min_workers !== undefined && type.min_workers !== (own.min_workers ?? own.min_worker_nodes)) {
      const given = source.rangeOf([...path, 'min_workers'])?.value;
      if (given) edits.push({ ...given, text: String(type.min_workers) });
      else add('min_workers', type.min_workers);
    }
    editLaunchConfig(
      path,
      isMap(own.node_config) ? own.node_config : undefined,
      isMap(type.node_config) ? type.node_config : {},
      add,
    );
  }

  function editLaunchConfig(
    path: Path,
    own: PlainMap | undefined,
    wanted: PlainMap,
    add: (key: string, value: Plain) => void,
  ): void {
    const place = source.rangeOf([...path, 'node_config']);
    if (!place) {
      add('node_config', wanted);
      return;
    }
    const missing = Object.entries(wanted).filter(([key]) => own === undefined || !Object.hasOwn(own, key));
    if (missing.length === 0) return;
    const first =
      own === undefined ? undefined : linesOf([...path, 'node_config', source.keys([...path, 'node_config'])[0] ?? '']);
    if (first)
      insertLines(
        first.start,
        missing.map(([key, value]) => `${first.indent}${key}: ${JSON.stringify(value)}`),
      );
    else
      edits.push({
        ...place.value,
        text: `${place.value.start === place.key?.end ? ' ' : ''}${JSON.stringify(wanted)}`,
      });
  }

  function dropKeys(): void {
    const dropped = isLocal
      ? [
          'head_node',
          'worker_nodes',
          'initial_workers',
          'worker_default_node_type',
          ...('available_node_types' in raw ? [] : ['head_node_type']),
        ]
      : ['min_workers', 'initial_workers', 'worker_default_node_type'];
    for (const key of new Set([...dropped, ...gone])) if (Object.hasOwn(raw, key)) remove([key]);
    if (isMap(raw.docker) && 'install_docker' in raw.docker) {
      const place = source.rangeOf(['docker']);
      if (Object.keys(raw.docker).length > 1) remove(['docker', 'install_docker']);
      else if (place) edits.push({ ...place.value, text: '{}' });
    }
  }

  function setInitialWorkers(): void {
    const given = isMap(raw.provider) && isMap(raw.provider.manta) ? raw.provider.manta : undefined;
    const wanted = isMap(modern.provider) ? modern.provider.manta : undefined;
    if (!isMap(wanted) || given !== undefined) return;
    const provider = isMap(raw.provider) ? raw.provider : {};
    const last = source.keys(['provider']).at(-1) ?? '';
    const lines = linesOf(['provider', last]);
    if (lines) insertLines(lines.end, [`${lines.indent}manta: ${JSON.stringify(wanted)}`]);
    else
      edits.push({
        ...(source.rangeOf(['provider'])?.value as { start: number; end: number }),
        text: JSON.stringify({ ...provider, manta: wanted }),
      });
  }
}

const nameText = (name: string): string => (/^[A-Za-z_][\w.-]*$/.test(name) ? name : JSON.stringify(name));
