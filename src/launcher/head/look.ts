import { createHash, randomBytes } from 'node:crypto';
import type { Host } from '../../base/host.ts';
import { ownValue } from '../../base/own-value.ts';
import { markVariable } from '../../base/process.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { nodeFolder } from '../../bringup/node/node.ts';
import { type NodeRecord, parseRecord } from '../../bringup/node/record.ts';
import { tokenFile } from '../../bringup/node/shell-text.ts';
import { markPattern } from '../../bringup/ray/processes.ts';
import { claimTerms } from '../../providers/local/claim-program.ts';
import { type HostClaim, readClaim } from '../../providers/local/claims.ts';
import { type HeadRecord, headRecordIn } from '../../state/cluster-record.ts';
import { mantadPrelude } from '../../state/mantad/boot-entry.ts';
import type { Serving } from '../../state/serving.ts';
import { folderOnHead, stateNames } from '../../state/state-folder.ts';

const looking = readShell(new URL('./head-look.sh', import.meta.url));

export const runtimeHome = '.manta/runtime';

/** What a head's host has, as one look at it finds. */
export interface HeadLook {
  readonly home: string;
  readonly hostname: string;
  /** `linux`, `x64`: as Node names them. */
  readonly platform: string;
  readonly arch: string;
  /** Bytes that are free where the home of the user is, as far as that is known. */
  readonly freeBytes?: number;
  /** When it was looked at, by its own clock. */
  readonly now: number;
  /** Addresses of the host itself. */
  readonly addresses: readonly string[];
  /** Names of the runtimes that are there. */
  readonly runtimes: readonly string[];
  /** The cluster's record on the head. */
  readonly cluster?: HeadRecord;
  /** The same as it was written there, by whichever version. */
  readonly clusterText?: string;
  /** Who serves it, if that process is alive. */
  readonly serving?: Serving;
  readonly supervisorPid?: number;
  readonly supervisorRuntime?: string;
  readonly mantadPid?: number;
  /** A mantad of another version is taking over. */
  readonly upgrading?: true;
  /** What can start mantad after a reboot. */
  readonly boot: { readonly systemd: boolean; readonly cron: boolean };
  /** Public half of the cluster's key. */
  readonly publicKey?: string;
  readonly rayToken?: string;
  readonly ownerToken?: string;
  /** Addresses of the hosts that mantad had as workers. */
  readonly hosts: readonly string[];
  /** Of a cloud's cluster: until when its lists may not show all that was launched, by the clock of the head. */
  readonly unseenUntil?: number;
  /** Claims of its host, by whichever user and cluster, that have not expired. */
  readonly claims: readonly HostClaim[];
  /** What was completed on the head as a node. */
  readonly record?: NodeRecord;
  /** A raylet of this cluster runs there; `foreignRay`: one that Manta did not start. */
  readonly rayAlive: boolean;
  readonly foreignRay: boolean;
}

/**
 * Sh text that looks at a head, and what reads its output. Makes the cluster's key where there is none and `key` is
 * wanted.
 */
export function headLook(
  cluster: string,
  key: boolean,
): { readonly text: string; readonly read: (stdout: string) => HeadLook } {
  const mark = randomBytes(8).toString('hex');
  const text = shellProgram(`${mantadPrelude}${looking}`, {
    mark,
    cluster,
    folder: folderOnHead(cluster).path,
    node: nodeFolder(cluster),
    token_file: tokenFile(cluster),
    runtimes: runtimeHome,
    claims: claimTerms.folder,
    ray_mark: `${markVariable}=.*${markPattern(cluster)}`,
    any_mark: `${markVariable}=:`,
    make_key: key,
  });
  const read = (stdout: string): HeadLook => {
    const said = new Map<string, string>();
    for (const line of stdout.split('\n')) {
      const [first, name, value] = line.split(' ');
      if (first === mark && name !== undefined) said.set(name, Buffer.from(value ?? '', 'base64').toString('utf8'));
    }
    return lookOf(said);
  };
  return { text, read };
}

/**
 * An id that a cluster has from the moment its key is made: what an `up` that was cut short has claimed under it, the next
 * command knows for its own.
 */
export const idByKey = (
  { publicKey = randomBytes(32).toString('hex') }: Pick<HeadLook, 'publicKey'>,
  what: string,
): string => createHash('sha256').update(`${what} ${publicKey.trim()}`).digest('hex').slice(0, 16);

/** Takes the key back that a look has made, where nothing came of it. */
export async function removeUnusedKey(host: Host, cluster: string, look: HeadLook, signal: AbortSignal): Promise<void> {
  if (look.cluster !== undefined || look.record !== undefined) return;
  const { path } = folderOnHead(cluster);
  const { cluster: record, key } = stateNames;
  await host.sh(`cd "$HOME/${path}" 2>/dev/null && [ ! -e ${record} ] && rm -f ${key} ${key}.pub; exit 0\n`, {
    signal,
  });
}

function lookOf(said: ReadonlyMap<string, string>): HeadLook {
  const text = (name: string): string => said.get(name)?.trim() ?? '';
  const words = (name: string): string[] => text(name).split(/\s+/).filter(Boolean);
  const some = <Key extends string, Value>(key: Key, value: Value | undefined): Partial<Record<Key, Value>> =>
    (value === undefined || value === '' ? {} : { [key]: value }) as Partial<Record<Key, Value>>;
  const [system = '', machine = ''] = words('system');
  const mantadPid = Number(text('mantad')) || undefined;
  const serving = parsed(said.get('serving')) as Serving | undefined;
  return {
    home: text('home'),
    hostname: text('hostname'),
    platform: system.toLowerCase(),
    arch: ownValue({ x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64' }, machine) ?? machine,
    now: Number(text('now')) * 1_000,
    addresses: words('addresses'),
    runtimes: words('runtimes'),
    hosts: words('hosts'),
    claims: claimsIn(text('claims'), Number(text('now')) * 1_000),
    rayAlive: said.has('alive'),
    foreignRay: said.has('foreign'),
    boot: { systemd: said.has('systemd'), cron: said.has('cron') },
    ...some('freeBytes', /^\d+$/.test(text('free')) ? Number(text('free')) * 1_024 : undefined),
    ...some('cluster', headRecordIn(said.get('cluster') ?? '')),
    ...some('clusterText', said.get('cluster')),
    ...some('serving', serving?.mantad.pid === mantadPid ? serving : undefined),
    ...some('supervisorPid', Number(text('supervisor')) || undefined),
    ...some('supervisorRuntime', /runtime\/([^/ ]+)\/supervisor\.js/.exec(text('supervisorline'))?.[1]),
    ...some('mantadPid', mantadPid),
    ...some('upgrading', said.has('upgrading') ? (true as const) : undefined),
    ...some('unseenUntil', Number(text('unseen')) || undefined),
    ...some('publicKey', text('key')),
    ...some('rayToken', text('token')),
    ...some('ownerToken', text('owner')),
    ...some('record', parseRecord(said.get('record') ?? '')),
  };
}

/** Those in force, by the clock of the host. */
const claimsIn = (lines: string, now: number): readonly HostClaim[] =>
  lines
    .split('\n')
    .map(readClaim)
    .filter(({ expiresAt }) => expiresAt > now);

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
