/** The program that looks at a started Ray from inside its place, without starting Python, and what it says. */

import { shellQuoted } from '../base/shell-quote.ts';
import type { NodeOrder, Place } from './node.ts';
import { nodeFolder } from './node.ts';
import { markPattern, processText } from './ray-processes.ts';
import { type RayVersions, readVersions, startedVersionsText } from './ray-versions.ts';
import { bashAt } from './shell-text.ts';

/** Last session of Ray on a node, its GCS and its folder; relative to the home of the user at the place. */
export const sessionFile = (cluster: string): string => `${nodeFolder(cluster)}/session`;

export interface Listener {
  readonly address: string;
  readonly port: number;
  readonly loopback: boolean;
}

type Answer = 'refused' | 'open' | 'none';

export interface Findings {
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
export function checkProgram(order: NodeOrder, place: Place, elapsed: number): string {
  const pattern = shellQuoted(markPattern(order.cluster, order.instance));
  return bashAt(
    place,
    `${processText}
manta_look ${pattern}
manta_take cluster
raylet=
for p in "\${!manta_found[@]}"; do [[ \${manta_name[$p]} != raylet ]] || raylet=$p; done
if [[ -z $raylet ]]; then
  read -r up _ </proc/uptime
  oldest=$(( (\${up%.*} - ${Math.ceil(elapsed / 1000) + 1}) * $(getconf CLK_TCK 2>/dev/null || echo 100) ))
  for p in "\${!manta_ray[@]}"; do
    [[ -z \${manta_other[$p]-} && \${manta_born[$p]} -ge $oldest ]] || continue
    manta_found[$p]=\${manta_born[$p]}
    [[ \${manta_name[$p]} != raylet ]] || raylet=$p
  done
fi
[[ -z $raylet ]] || {
  manta_word "$raylet" session-name; session=$manta_value
  manta_word "$raylet" gcs-address; address=$manta_value
  manta_word "$raylet" temp_dir
  echo "session $session"
  [[ ! -d ~/${nodeFolder(order.cluster)} ]] || echo "$session $address $manta_value" >~/${shellQuoted(sessionFile(order.cluster))}
}
gcs= dashboard=
for p in "\${!manta_found[@]}"; do
  [[ -n \${manta_ray[$p]-} ]] || continue
  case \${manta_name[$p]} in
    gcs_server) gcs=$p ;;
    raylet | ray::* | ray-dashboard-*) ;;
    *) mapfile -d '' -t words <"/proc/$p/cmdline"; case \${words[*]} in
      *ray/autoscaler/*monitor.py*)
        kill -TERM "$p" || sudo -n kill -TERM "$p"
        for i in {1..25}; do manta_alive "$p" "\${manta_born[$p]}" || break; sleep 0.02; done
        ! manta_alive "$p" "\${manta_born[$p]}" || kill -KILL "$p" || sudo -n kill -KILL "$p"
        echo "monitor $p" ;;
      *ray/dashboard/dashboard.py*) dashboard=$p ;;
    esac ;;
  esac
done 2>/dev/null
${startedVersionsText(order.cluster)}
${order.kind === 'head' ? probeText : ''}`,
  );
}

/** `CheckAlive` of the GCS as bytes of HTTP/2: preface, empty settings, headers without compression, an empty message. */
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

const probeText = `
[[ -z $gcs ]] || {
  manta_word "$gcs" node-ip-address; at=$manta_value
  manta_word "$gcs" gcs_server_port
  exec 3<>"/dev/tcp/$at/$manta_value" && printf '${grpcCall('/ray.rpc.NodeInfoGcsService/CheckAlive')}' >&3
  while IFS= LC_ALL=C read -r -d '' -t 2 -u 3 l; do
    case $l in *grpc-status*16) echo 'gcs refused'; break ;; *grpc-status*) echo 'gcs open'; break ;; esac
  done
  exec 3<&-
} 2>/dev/null
[[ -z $dashboard ]] || {
  manta_word "$dashboard" port; port=$manta_value
  manta_word "$dashboard" port-retries; last=$((port + \${manta_value:-0}))
  inodes=" $(find "/proc/$dashboard/fd" -lname 'socket:*' -printf '%l ' 2>/dev/null | tr -d 'socket:[]')"
  while read -r _ local _ state _ _ _ _ _ inode _; do
    [[ $state = 0A ]] || continue
    at=$((16#\${local##*:}))
    (( at >= port && at <= last )) && [[ $inodes = ' ' || $inodes = *" $inode "* ]] || continue
    echo "listen \${local%:*} $at"
    exec 3<>/dev/tcp/127.0.0.1/$at || continue
    printf 'GET /api/version HTTP/1.0\\r\\n\\r\\n' >&3
    IFS= read -r -t 5 -u 3 l && echo "dashboard \${l#* }"
    exec 3<&-
  done < <(cat /proc/net/tcp /proc/net/tcp6)
} 2>/dev/null
`;

/** Reads what the program of `checkProgram` printed. */
export function readFindings(output: string): Findings {
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
