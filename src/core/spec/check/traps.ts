import { ownValue } from '../../../base/own-value.ts';
import type { ClusterSpec, NodeType, Plain, PlainMap } from '../cluster.ts';
import { legacyHeadType, legacyWorkerType } from '../legacy/modernise.ts';
import { isSpot } from '../offers.ts';
import { mapOf } from '../plain.ts';
import type { Path, Problem } from '../problem.ts';
import { listed, type ProblemKind, report } from '../problems.ts';
import { isMap, type Source } from '../source.ts';
import { trapProblems as problems } from './trap-problems.ts';

/** What Ray allows and what nearly always hurts later. Only what the file itself says is judged, never a default. */
export function checkTraps(source: Source, file: PlainMap, spec: ClusterSpec): Problem[] {
  const found: Problem[] = [];
  const raw = source.value as PlainMap;
  const provider = mapOf(file.provider);
  checkHead();
  checkCommands();
  checkTypeSetup();
  checkZones();
  if (spec.provider.type === 'aws') checkAws();
  if (spec.provider.type === 'gcp') checkGcp();
  if (spec.provider.type === 'azure') checkAzure();
  checkProviderKeys();
  if ((spec.provider.type === 'aws' || spec.provider.type === 'azure') && !('cache_stopped_nodes' in provider)) {
    addAtKey(problems.StoppedDisks, ['provider'], { provider: spec.provider.type });
  }
  return found;

  function add<Data>(kind: ProblemKind<Data>, path: Path, data: Data): void {
    found.push(report(kind, { at: source.at(path), path }, data));
  }

  function addAtKey<Data>(kind: ProblemKind<Data>, path: Path, data: Data): void {
    found.push(report(kind, { at: source.keyAt(path), path }, data));
  }

  /** Where the file describes a type; undefined for a type that is a default. */
  function placeOf(type: string): Path | undefined {
    if (isMap(raw.available_node_types) && Object.hasOwn(raw.available_node_types, type))
      return ['available_node_types', type];
    if (type === legacyHeadType && isFilled(raw.head_node)) return ['head_node'];
    if (type === legacyWorkerType && isFilled(raw.worker_nodes)) return ['worker_nodes'];
    return undefined;
  }

  function written(): readonly { readonly type: NodeType; readonly path: Path }[] {
    return spec.nodeTypes.flatMap((type) => {
      const path = placeOf(type.name);
      return path === undefined ? [] : [{ type, path }];
    });
  }

  function checkHead(): void {
    const path = placeOf(spec.headType);
    if (path && isSpot(spec.head.launchConfig)) addAtKey(problems.SpotHead, path, { type: spec.headType });
  }

  function checkCommands(): void {
    for (const [path, command] of commandsIn(raw)) {
      const wheel = wheelIn(command);
      const why = wheel === undefined ? undefined : whyGone(command, wheel);
      if (wheel !== undefined && why !== undefined) add(problems.OldWheel, path, { wheel, why });
      const flag = /--redis-(port|address)\b/.exec(command);
      if (flag && /\bray\s+start\b/.test(command))
        add(problems.RedisFlags, path, { flag: flag[0], now: `--${flag[1]}` });
      if (/setup|creation/.test(String(path[path.length - 2])) && clonesOnce(command))
        add(problems.NotRepeatable, path, { command: firstLine(command) });
    }
    for (const key of ['head_start_ray_commands', 'worker_start_ray_commands'] as const) {
      const commands = ownValue(raw, key);
      if (!Array.isArray(commands) || commands.length === 0 || provider.disable_node_updaters === true) continue;
      if (!commands.some((command) => mayStartRay(String(command)))) {
        addAtKey(problems.NoRayStart, [key], { key });
      }
    }
  }

  function checkTypeSetup(): void {
    const shared = [...listOf(file.setup_commands), ...listOf(file.worker_setup_commands)];
    for (const { type, path } of written()) {
      const own = mapOf(ownValue(mapOf(file.available_node_types), type.name)).worker_setup_commands;
      if (!Array.isArray(own) || shared.every((command) => (own as readonly Plain[]).includes(command))) continue;
      addAtKey(problems.TypeSetupReplaces, [...path, 'worker_setup_commands'], {
        type: type.name,
        count: shared.length,
      });
    }
  }

  function checkZones(): void {
    const { region, availability_zone: zones } = provider;
    if (typeof region !== 'string' || typeof zones !== 'string' || !/^[a-z]+-[a-z-]*\d+$/.test(region)) return;
    if (spec.provider.type !== 'aws' && spec.provider.type !== 'gcp') return;
    const stray = zones
      .split(',')
      .map((zone) => zone.trim())
      .find((zone) => /^[a-z]+-[a-z]+/.test(zone) && !zone.startsWith(region));
    if (stray !== undefined)
      add(problems.ZoneOutsideRegion, ['provider', 'availability_zone'], { zone: stray, region });
  }

  function checkAws(): void {
    const bare = written().find(
      ({ type }) =>
        !('LaunchTemplate' in type.launchConfig) &&
        (type.launchConfig.ImageId === undefined || type.launchConfig.ImageId === 'latest_dlami'),
    );
    if (bare)
      addAtKey(problems.OldAmi, bare.path, {
        type: bare.type.name,
        given: bare.type.launchConfig.ImageId === undefined ? 'has no ImageId' : 'has ImageId latest_dlami',
      });
    const auth = mapOf(file.auth);
    if (typeof auth.ssh_private_key === 'string') {
      const without = written().filter(
        ({ type }) => !('KeyName' in type.launchConfig) && !('LaunchTemplate' in type.launchConfig),
      );
      if (without.length > 0)
        addAtKey(problems.KeyNameMissing, ['auth', 'ssh_private_key'], {
          types: listed(without.map(({ type }) => `'${type.name}'`)),
        });
    }
    for (const [index, rule] of listOf(mapOf(provider.security_group).IpPermissions).entries()) {
      const open = openTo(mapOf(rule));
      if (open) add(problems.OpenPort, ['provider', 'security_group', 'IpPermissions', index], open);
    }
  }

  function checkAzure(): void {
    const auth = mapOf(file.auth);
    const [given, missing] =
      'ssh_private_key' in auth ? ['ssh_private_key', 'ssh_public_key'] : ['ssh_public_key', 'ssh_private_key'];
    if (given in auth && !(missing in auth)) addAtKey(problems.HalfKeyPair, ['auth', given], { given, missing });
  }

  function checkProviderKeys(): void {
    for (const key of ownValue(neededKeys, spec.provider.type) ?? []) {
      if ((provider[key] ?? null) !== null) continue;
      addAtKey(problems.ProviderKeyMissing, key in provider ? ['provider', key] : ['provider'], {
        provider: spec.provider.type,
        key,
      });
    }
  }

  function checkGcp(): void {
    for (const { type, path } of written()) {
      const accelerators = type.launchConfig.guestAccelerators;
      if (
        Array.isArray(accelerators) &&
        accelerators.length > 0 &&
        !isSpot(type.launchConfig) &&
        !JSON.stringify(type.launchConfig).includes('onHostMaintenance')
      ) {
        addAtKey(problems.GpuMaintenance, path, { type: type.name });
      }
    }
  }
}

/** What each cloud must be told before it launches anything. */
const neededKeys: Readonly<Record<string, readonly string[]>> = {
  aws: ['region'],
  gcp: ['project_id', 'region', 'availability_zone'],
  azure: ['location', 'resource_group'],
};

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
    return `Ray of today has no wheel for Python ${python[0]}.${python.slice(1)}`;
  const nightly = /ray-wheels\/latest\/ray-(\d+\.\d+\.\d+)/.exec(command)?.[1];
  return nightly !== undefined && nightly !== '3.0.0'
    ? `the nightly wheel of ${nightly} is not there any more`
    : undefined;
}

const clonesOnce = (command: string): boolean =>
  /\bgit clone\b/.test(command) && !/\|\||\brm -rf?\b|\btest\b|\[ |\bif\b|mktemp|\bwhile\b/.test(command);

/** The ports that a rule opens to every address; undefined when it opens none, or only those of SSH, HTTP and HTTPS. */
function openTo(rule: PlainMap): { readonly ports: string; readonly range: string } | undefined {
  const world = [...listOf(rule.IpRanges), ...listOf(rule.Ipv6Ranges)]
    .map((range) => mapOf(range).CidrIp ?? mapOf(range).CidrIpv6)
    .find((range) => range === '0.0.0.0/0' || range === '::/0');
  if (world === undefined) return undefined;
  const { FromPort: from, ToPort: to } = rule;
  if (from === to && (from === 22 || from === 80 || from === 443)) return undefined;
  if (String(rule.IpProtocol) === 'icmp') return undefined;
  return {
    ports:
      String(rule.IpProtocol) === '-1' || from === undefined || from === -1
        ? 'all ports'
        : from === to
          ? `port ${String(from)}`
          : `ports ${String(from)}-${String(to)}`,
    range: String(world),
  };
}
