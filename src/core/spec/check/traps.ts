import { ownValue } from '../../../base/own-value.ts';
import type { ClusterSpec, NodeType, Plain, PlainMap } from '../cluster.ts';
import { legacyHeadType, legacyWorkerType } from '../legacy/node-types.ts';
import { mapOf } from '../plain.ts';
import type { Path, Problem } from '../problem.ts';
import type { ProviderFacts } from '../provider-facts.ts';
import { isMap, type Source } from '../source.ts';
import { Findings } from './findings.ts';
import { goneOption } from './outdated-start.ts';
import { trapProblems as problems } from './trap-problems.ts';

interface Checked {
  /** The file as it is written. */
  readonly raw: PlainMap;
  /** In current keys. */
  readonly file: PlainMap;
  readonly provider: PlainMap;
  readonly spec: ClusterSpec;
  readonly facts: ProviderFacts;
  readonly found: Findings;
}

/** What Ray allows and what nearly always hurts later. Only what the file itself says is judged, never a default. */
export function checkTraps(source: Source, file: PlainMap, spec: ClusterSpec, facts: ProviderFacts): Problem[] {
  const found = new Findings(source);
  const provider = mapOf(file.provider);
  const checked: Checked = { raw: source.value as PlainMap, file, provider, spec, facts, found };
  checkHead(checked);
  checkCommands(checked);
  checkTypeSetup(checked);
  checkProviderKeys(checked);
  facts.traps?.({
    provider,
    auth: mapOf(file.auth),
    written: written(checked),
    add: (kind, path, data) => found.add(kind, path, data),
    addAtKey: (kind, path, data) => found.addAtKey(kind, path, data),
  });
  return found.problems;
}

/** Where the file describes a type; undefined for a type that is a default. */
function placeOf({ raw }: Checked, type: string): Path | undefined {
  if (isMap(raw.available_node_types) && Object.hasOwn(raw.available_node_types, type))
    return ['available_node_types', type];
  if (type === legacyHeadType && isFilled(raw.head_node)) return ['head_node'];
  if (type === legacyWorkerType && isFilled(raw.worker_nodes)) return ['worker_nodes'];
  return undefined;
}

function written(checked: Checked): readonly { readonly type: NodeType; readonly path: Path }[] {
  const { spec } = checked;
  return spec.nodeTypes.flatMap((type) => {
    const path = placeOf(checked, type.name);
    return path === undefined ? [] : [{ type, path }];
  });
}

function checkHead(checked: Checked): void {
  const { spec, facts, found } = checked;
  const path = placeOf(checked, spec.headType);
  if (path && facts.offers?.isSpot?.(spec.head.launchConfig))
    found.addAtKey(problems.SpotHead, path, { type: spec.headType });
}

function checkCommands({ raw, provider, found }: Checked): void {
  for (const [path, command] of commandsIn(raw)) {
    const wheel = wheelIn(command);
    const why = wheel === undefined ? undefined : whyGone(command, wheel);
    if (wheel !== undefined && why !== undefined) found.add(problems.OldWheel, path, { wheel, why });
    const gone = goneOption(command);
    if (gone !== undefined) found.add(problems.RedisFlags, path, gone);
    if (/setup|creation/.test(String(path[path.length - 2])) && clonesOnce(command))
      found.add(problems.NotRepeatable, path, { command: firstLine(command) });
  }
  for (const key of ['head_start_ray_commands', 'worker_start_ray_commands'] as const) {
    const commands = ownValue(raw, key);
    if (!Array.isArray(commands) || commands.length === 0 || provider.disable_node_updaters === true) continue;
    if (!commands.some((command) => mayStartRay(String(command)))) {
      found.addAtKey(problems.NoRayStart, [key], { key });
    }
  }
}

function checkTypeSetup(checked: Checked): void {
  const { file, found } = checked;
  const shared = [...listOf(file.setup_commands), ...listOf(file.worker_setup_commands)];
  for (const { type, path } of written(checked)) {
    const own = mapOf(ownValue(mapOf(file.available_node_types), type.name)).worker_setup_commands;
    if (!Array.isArray(own) || shared.every((command) => (own as readonly Plain[]).includes(command))) continue;
    found.addAtKey(problems.TypeSetupReplaces, [...path, 'worker_setup_commands'], {
      type: type.name,
      count: shared.length,
    });
  }
}

function checkProviderKeys({ facts, provider, found }: Checked): void {
  for (const key of facts.needs ?? []) {
    if ((provider[key] ?? null) !== null) continue;
    found.addAtKey(problems.ProviderKeyMissing, key in provider ? ['provider', key] : ['provider'], {
      provider: facts.name,
      key,
    });
  }
}

/** `ray start` itself, or something that may call it. */
const mayStartRay = (command: string): boolean =>
  (/\bray\b/.test(command) && /\bstart\b/.test(command)) ||
  /\.sh\b|\bsource\b|\b(?:bash|make|python[\d.]{0,5})\s/.test(command);

const isFilled = (value: Plain | undefined): boolean => isMap(value) && Object.keys(value).length > 0;
const listOf = (value: Plain | undefined): readonly Plain[] =>
  Array.isArray(value) ? (value as readonly Plain[]) : [];
const firstLine = (command: string): string => {
  const line = (/git clone[^;&|\n]*/.exec(command)?.[0] ?? command).trim();
  return line.length > 70 ? `${line.slice(0, 67)}…` : line;
};

/** Every command of a file with its path. */
function* commandsIn(file: PlainMap): Generator<readonly [Path, string]> {
  for (const [key, value] of Object.entries(file)) {
    if (!key.endsWith('_commands') || !Array.isArray(value)) continue;
    for (const [index, command] of (value as readonly Plain[]).entries())
      if (typeof command === 'string') yield [[key, index], command];
  }
  for (const [name, type] of Object.entries(mapOf(file.available_node_types))) {
    for (const [index, command] of listOf(mapOf(type).worker_setup_commands).entries()) {
      if (typeof command === 'string') yield [['available_node_types', name, 'worker_setup_commands', index], command];
    }
  }
}

/** The file name of the Ray wheel that a command installs. */
function wheelIn(command: string): string | undefined {
  const url = command.split(/[\s'"]+/).find((word) => word.endsWith('.whl') && /\bray-\d/.test(word));
  return url?.slice(url.lastIndexOf('/') + 1);
}

function whyGone(command: string, wheel: string): string | undefined {
  const python = /-cp(2\d|3\d)-/.exec(wheel)?.[1];
  if (python !== undefined && (python.startsWith('2') || /^3[5-9]$/.test(python)))
    return `current Ray has no wheel for Python ${python[0]}.${python.slice(1)}`;
  const nightly = /ray-wheels\/latest\/ray-(\d+\.\d+\.\d+)/.exec(command)?.[1];
  return nightly !== undefined && nightly !== '3.0.0' ? `the nightly wheel of ${nightly} no longer exists` : undefined;
}

const clonesOnce = (command: string): boolean =>
  /\bgit clone\b/.test(command) && !/\|\||\brm -rf?\b|\btest\b|\[ |\bif\b|mktemp|\bwhile\b/.test(command);
