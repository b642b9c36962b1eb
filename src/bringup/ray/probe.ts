/** The program that looks at a started Ray from inside its place, without starting Python, and what it says. */

import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import type { CommandPlace, NodeOrder } from '../node/node.ts';
import { nodeFolder } from '../node/node.ts';
import { bashAt } from '../node/shell-text.ts';
import { markPattern, processText } from './processes.ts';
import { type RayVersions, readVersions, versionFile } from './versions.ts';

const program = readShell(new URL('./ray-check.bash', import.meta.url));

/** Last session of Ray on a node, its GCS and its folder; relative to the home of the user at the place. */
export const sessionFile = (cluster: string): string => `${nodeFolder(cluster)}/session`;

export interface Listener {
  readonly address: string;
  readonly port: number;
  readonly loopback: boolean;
}

type Answer = 'refused' | 'open' | 'none';

export interface RayFindings {
  /** Undefined: no raylet runs. */
  readonly session?: string;
  /** Monitors of Ray's own that were ended. */
  readonly monitors: readonly number[];
  /** Where the dashboard listens. */
  readonly exposed: readonly Listener[];
  /** What a call without a token came to. */
  readonly gcs: Answer;
  readonly dashboard: Answer;
  /** Of the Ray that the last `ray start` ran. */
  readonly versions?: RayVersions;
}

/**
 * Takes as Ray of this node what carries its mark and, where nothing does, what carries none and is younger than the
 * start: `sudo` and service managers drop the environment.
 */
export function checkProgram(order: NodeOrder, place: CommandPlace, elapsed: number): string {
  const { cluster, instance, kind } = order;
  const check = shellProgram(`${processText}${program}`, {
    pattern: markPattern(cluster, instance),
    elapsed: Math.ceil(elapsed / 1000) + 1,
    node_folder: nodeFolder(cluster),
    session_file: sessionFile(cluster),
    version_file: versionFile(cluster),
    is_head: kind === 'head',
    check_alive: kind === 'head' ? checkAlive : '',
  });
  return bashAt(place, check);
}

/** A call as bytes of HTTP/2, for `printf %b`: preface, empty settings, headers without compression, an empty message. */
function grpcCall(path: string): string {
  const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  const headers = Buffer.concat([
    Buffer.from([0x83, 0x86, 0x04]),
    text(path),
    Buffer.from([0x01]),
    text('localhost'),
    Buffer.from([0x0f, 0x10]),
    text('application/grpc'),
    Buffer.from([0x00]),
    text('te'),
    text('trailers'),
  ]);
  const bytes = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(1, 4, 1, headers),
    frame(0, 1, 1, Buffer.alloc(5)),
  ]);
  return [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}

const checkAlive = grpcCall('/ray.rpc.NodeInfoGcsService/CheckAlive');

/** Reads what the program of `checkProgram` printed. */
export function readFindings(output: string): RayFindings {
  const lines = output.split('\n').map((line) => line.trim().split(' '));
  const all = (kind: string): string[][] => lines.filter((line) => line[0] === kind).map((line) => line.slice(1));
  const session = all('session')[0]?.[0];
  const status = all('dashboard')[0]?.[0];
  const versions = readVersions(output);
  return {
    ...(versions && { versions }),
    ...(session && { session }),
    monitors: all('monitor').map(([pid]) => Number(pid)),
    exposed: all('listen').map(([hex = '', port]) => ({ ...readAddress(hex), port: Number(port) })),
    gcs: (all('gcs')[0]?.[0] as Answer | undefined) ?? 'none',
    dashboard: status === undefined ? 'none' : status === '401' || status === '403' ? 'refused' : 'open',
  };
}

/** An address as the kernel prints it: bytes in hex, each group of four turned round. */
function readAddress(hex: string): { address: string; loopback: boolean } {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((group) => [...Buffer.from(group, 'hex')].reverse());
  const last = bytes.slice(-4);
  const mapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255;
  if (bytes.length === 4 || mapped) return { address: last.join('.'), loopback: last[0] === 127 };
  const loopback = bytes.slice(0, 15).every((byte) => byte === 0) && bytes[15] === 1;
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return { address: loopback ? '::1' : groups.every((group) => group === '0') ? '::' : groups.join(':'), loopback };
}
