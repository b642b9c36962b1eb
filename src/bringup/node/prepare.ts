import { saysDiskFull } from '../../base/files/disk-full.ts';
import type { Host, RunOptions } from '../../base/host.ts';
import { markVariable } from '../../base/process.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { bringupErrors } from '../errors.ts';
import { leaseText } from '../lease/lease.ts';
import { markPattern } from '../ray/processes.ts';
import { stagingIn, stagingText } from '../sync/staging.ts';
import { type NodeOrder, nodeFolder, stepsFolder } from './node.ts';
import { type NodeRecord, parseRecord } from './record.ts';
import { environmentFile, exportText, sessionEnvironment, tokenFile } from './shell-text.ts';

const writing = readShell(new URL('./node-files.sh', import.meta.url));
const looking = readShell(new URL('./look-at-node.sh', import.meta.url));

/** A step that was begun on the host earlier. */
export interface KnownStep {
  readonly id: string;
  /** Undefined while it runs, or when it was lost; 255 when somebody has ended it. */
  readonly code?: number;
}

export interface PreparedNode {
  readonly record?: NodeRecord;
  readonly steps: readonly KnownStep[];
  /** A raylet of this cluster runs there. */
  readonly rayAlive: boolean;
  /** The machine is to go with its lease, and its user may not power it off. */
  readonly powerless: boolean;
  /** Bytes that are free where the home of the user is. */
  readonly freeBytes: number;
  /** Where the host keeps file mounts of the node's container. */
  readonly staging?: string;
}

/** Bytes that the node's folder takes before the first step. */
export const roomForFiles = 65_536;

/**
 * Makes the node's folder with what sessions and Ray read from it, and reads what was done on the host before: one round
 * trip. The token goes in the program, which stands in no process table.
 */
export async function prepareNode(host: Host, order: NodeOrder, options: RunOptions): Promise<PreparedNode> {
  const { cluster, lease, commands } = order;
  const folder = nodeFolder(cluster);
  const steps = stepsFolder(cluster);
  const files = nodeFilesText(order, steps, exportText(sessionEnvironment(order)));
  const look = shellProgram(looking, {
    steps,
    record: `${folder}/record.json`,
    mark: `${markVariable}=.*${markPattern(cluster)}`,
    powers_off: lease?.powersOff,
  });
  const staging = commands.container === undefined ? '' : `${stagingText(cluster)} || exit 1\n`;
  const { stdout, code, stderr } = await host.sh(`${freeText}${files}${leaseText(order)}${staging}${look}`, options);
  const prepared = read(stdout);
  if (code === 0) return prepared;
  // Shells name the reason of a failed write or not: the room that is left tells it.
  const full = prepared.freeBytes < roomForFiles || saysDiskFull(stderr);
  const detail = stderr.trim().split('\n').at(-1) || `exit code ${code}`;
  throw full
    ? bringupErrors.DiskFull({ node: host.name })
    : bringupErrors.NoFolder({ node: host.name, folder, detail });
}

/** Says how many KiB are free where the home of the user is. */
const freeText = `echo "free $(df -Pk ~ 2>/dev/null | awk 'NR == 2 { print $4 }')"\n`;

/** Sh text that writes the token and `env.sh` into the node's folder at a place; `folder` is made where it is not there. */
export const nodeFilesText = ({ cluster, token }: NodeOrder, folder: string, environment: string): string =>
  shellProgram(writing, {
    folder,
    token,
    token_file: tokenFile(cluster),
    environment,
    environment_file: environmentFile(cluster),
  });

function read(stdout: string): PreparedNode {
  const [facts = '', text = ''] = stdout.split(/^record$/m);
  const lines = facts.split('\n');
  const value = (name: string): string =>
    lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  const record = parseRecord(text);
  const staging = stagingIn(facts);
  return {
    freeBytes: Number(value('free')) * 1024,
    rayAlive: lines.includes('alive'),
    powerless: lines.includes('powerless'),
    steps: lines.flatMap((line): KnownStep[] => {
      const [word, id, code] = line.split(' ');
      if (word !== 'step' || id === undefined) return [];
      return [{ id, ...(code !== undefined && code !== '' && { code: Number(code) }) }];
    }),
    ...(record !== undefined && { record }),
    ...(staging !== undefined && { staging }),
  };
}
