import { saysDiskFull } from '../base/disk-full.ts';
import type { Host, RunOptions } from '../base/host.ts';
import { markVariable } from '../base/process.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { bringupErrors } from './errors.ts';
import { leaseText } from './lease.ts';
import { type NodeOrder, nodeFolder, stepsFolder } from './node.ts';
import { markPattern } from './ray-processes.ts';
import { type NodeRecord, parseRecord } from './record.ts';
import { environmentFile, exportText, sessionEnvironment, tokenFile } from './shell-text.ts';
import { stagingIn, stagingText } from './staging.ts';

/** A step that was begun on the host earlier. */
export interface KnownStep {
  readonly id: string;
  /** Undefined while it runs, or when it was lost; 255 when somebody has ended it. */
  readonly code?: number;
}

export interface Prepared {
  readonly record?: NodeRecord;
  readonly steps: readonly KnownStep[];
  /** A raylet of this cluster runs there. */
  readonly rayAlive: boolean;
  /** The machine is to go with its lease, and its user may not switch it off. */
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
export async function prepareNode(host: Host, order: NodeOrder, options: RunOptions): Promise<Prepared> {
  const folder = nodeFolder(order.cluster);
  const write = (path: string, text: string): string =>
    `printf %s ${shellQuoted(text)} >${path}.new && mv ${path}.new ${path} || exit 1\n`;
  const { stdout, code, stderr } = await host.sh(
    `umask 077; cd "$HOME" || exit 1
echo "free $(df -Pk . 2>/dev/null | awk 'NR==2{print $4}')"
mkdir -p ${stepsFolder(order.cluster)} || exit 1
${order.token === undefined ? `rm -f ${tokenFile(order.cluster)}\n` : write(tokenFile(order.cluster), `${order.token}\n`)}${write(environmentFile(order.cluster), exportText(sessionEnvironment(order)))}${leaseText(order)}${order.commands.container === undefined ? '' : `${stagingText(order.cluster)} || exit 1\n`}
for d in ${stepsFolder(order.cluster)}/*/; do [ -d "$d" ] || continue; b=\${d%/}; c=$(cat "$d/rc" 2>/dev/null); [ -n "$c" ] || [ ! -e "$d/ended" ] || c=255; echo "step \${b##*/} $c"; done
for c in $(grep -lsx raylet /proc/[0-9]*/comm); do
  e=\${c%comm}environ
  if [ ! -r "$e" ] || grep -qas ${shellQuoted(`${markVariable}=.*${markPattern(order.cluster)}`)} "$e"; then echo alive; break; fi
done
${order.lease?.powersOff ? powerlessText : ''}echo record; cat ${folder}/record.json 2>/dev/null
exit 0
`,
    options,
  );
  const prepared = read(stdout);
  if (code === 0) return prepared;
  // Shells name the reason of a failed write or not: the room that is left tells it.
  const full = prepared.freeBytes < roomForFiles || saysDiskFull(stderr);
  const detail = stderr.trim().split('\n').at(-1) || `exit code ${code}`;
  throw full
    ? bringupErrors.DiskFull({ node: host.name })
    : bringupErrors.NoFolder({ node: host.name, folder, detail });
}

const powerlessText = `[ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || sudo -n -l poweroff >/dev/null 2>&1 || echo powerless
`;

function read(stdout: string): Prepared {
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
