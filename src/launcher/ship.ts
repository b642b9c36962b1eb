import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { saysDiskFull } from '../base/disk-full.ts';
import type { Host, RunOptions } from '../base/host.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { sshErrors } from '../base/ssh/errors.ts';
import { version } from '../base/version.ts';
import { bringupErrors } from '../bringup/errors.ts';
import { addCronText, bootScript, bootUnit, removeBootText, startText } from '../head/boot-entry.ts';
import { headHome } from '../head/state-folder.ts';
import type { FailedUpgrade, Upgrade } from '../head/upgrade.ts';
import { launcherErrors } from './errors.ts';
import { type HeadLook, runtimeHome } from './head-look.ts';
import { nodeBinary, type Runtime } from './runtime.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Oldest Node that mantad runs on. */
const oldestNode = 24;

/** Puts the runtime on the head, and a Node where it has none; what is there is left as it is. Returns where Node is. */
export async function shipRuntime(
  host: Host,
  look: HeadLook,
  runtime: Runtime,
  env: Env,
  options: RunOptions,
): Promise<{ readonly node: string }> {
  const [found] = await Promise.all([
    findNode(host, options),
    look.runtimes.includes(runtime.name) ? undefined : shipManta(host, runtime, options),
  ]);
  return { node: found ?? (await shipNode(host, look, env, options)) };
}

/** A Node on the head that is new enough, and where: one that was shipped, or the one that a login shell finds. */
async function findNode(host: Host, options: RunOptions): Promise<string | undefined> {
  const { stdout } = await host.sh(
    `good() { [ -x "$1" ] && v=$("$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null) && [ "$v" -ge ${oldestNode} ] 2>/dev/null; }
for n in "$HOME"/${runtimeHome}/node-*/node "$(command -v node 2>/dev/null)"; do if good "$n"; then echo "manta-node $n"; exit 0; fi; done
command -v bash >/dev/null || exit 0
n=$(bash -lic 'command -v node' 2>/dev/null </dev/null | tail -n 1); if good "$n"; then echo "manta-node $n"; fi
exit 0
`,
    options,
  );
  return /^manta-node (.+)$/m.exec(stdout)?.[1];
}

async function shipManta(host: Host, runtime: Runtime, options: RunOptions): Promise<void> {
  await send(
    host,
    createReadStream(runtime.archive),
    `umask 077; cd "$HOME" && mkdir -p ${runtimeHome} && d=$(mktemp -d ${runtimeHome}/.new.XXXXXX) && { tar -xzf - -C "$d" && ${syncDiskOf('"$d"')} || { rm -rf "$d"; exit 1; }; } && { mv -T "$d" ${runtimeHome}/${runtime.name} 2>/dev/null || { [ -d ${runtimeHome}/${runtime.name} ] && rm -rf "$d"; }; } && sync -- ${runtimeHome}`,
    'Manta',
    options,
  );
}

/** Sh command that brings all of a disk that is not on it yet to it: many files at once, at the price of one. */
const syncDiskOf = (path: string): string => `{ sync -f -- ${path} 2>/dev/null || sync; }`;

async function shipNode(host: Host, look: HeadLook, env: Env, options: RunOptions): Promise<string> {
  const binary = await nodeBinary(look.platform, look.arch, env, options.signal);
  const folder = `${runtimeHome}/node-${process.versions.node}`;
  const digest = await sha256(binary);
  await send(
    host,
    createReadStream(binary).pipe(createGzip({ level: 1 })),
    `umask 077; cd "$HOME" && mkdir -p ${folder} && gzip -dc >${folder}/.new.$$ && printf '%s  %s\\n' ${digest} ${folder}/.new.$$ | sha256sum -c - >/dev/null || { rm -f ${folder}/.new.$$; exit 1; }; chmod 700 ${folder}/.new.$$ && sync -- ${folder}/.new.$$ && mv ${folder}/.new.$$ ${folder}/node && sync -- ${folder} ${runtimeHome} && ${folder}/node --version >/dev/null`,
    'Node',
    options,
  );
  return `${look.home}/${folder}/node`;
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function send(
  host: Host,
  content: NodeJS.ReadableStream,
  command: string,
  what: string,
  { signal }: RunOptions,
): Promise<void> {
  const child = host.open(command, { stdio: ['pipe', 'ignore', 'pipe'] });
  const stop = (): void => void child.kill();
  signal.addEventListener('abort', stop);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000);
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? -1));
  });
  try {
    // A host that stops reading has said why on its way out.
    if (child.stdin !== null) await pipeline(content, child.stdin).catch(() => {});
    const code = await ended;
    signal.throwIfAborted();
    // A program of the host never ends with it: the connection did.
    if (code === 255)
      throw sshErrors.Dropped({ host: host.name, during: 'running', detail: said.trim() || 'no reason given' });
    if (saysDiskFull(said)) throw bringupErrors.DiskFull({ node: host.name });
    if (code !== 0)
      throw launcherErrors.NotShipped({
        host: host.name,
        what,
        detail: said.trim().split('\n').at(-1) || `exit code ${code}`,
      });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Longer than a new version is on trial. */
const upgradedWithin = 300_000;

/** How mantad comes back after a reboot of the head. */
export type BootWay = 'systemd' | 'cron' | 'none';

/**
 * Starts the supervisor of a runtime on the head, in place of one of another runtime, and sees to it that a reboot
 * starts it too. Ray is not touched. Safe to repeat.
 */
export async function startMantad(
  host: Host,
  cluster: string,
  look: HeadLook,
  { node, runtime }: { readonly node: string; readonly runtime: Runtime },
  options: RunOptions,
): Promise<BootWay> {
  const way: BootWay = look.boot.systemd ? 'systemd' : look.boot.cron ? 'cron' : 'none';
  const program = `${look.home}/${runtimeHome}/${runtime.name}/supervisor.js`;
  const line = `${shellQuoted(node)} ${shellQuoted(program)} ${shellQuoted(`${look.home}/${headHome}`)} ${shellQuoted(cluster)}`;
  const script = bootScript(cluster);
  const old =
    look.supervisorPid !== undefined && look.supervisorRuntime !== runtime.name ? look.supervisorPid : undefined;
  const upgrade = old === undefined ? undefined : upgradeFrom(look, cluster);
  const upgrades = upgrade !== undefined || look.upgrading === true;
  const { code, stdout, stderr } = await host.sh(
    `mask=$(umask); umask 077; cd "$HOME" || exit 1
mkdir -p ${headHome}
${upgrade === undefined ? '' : keepOldText(cluster, upgrade, runtime.name)}
printf '%s\\n' '#!/bin/sh' ${shellQuoted(`exec ${line}`)} >${script}.new && chmod 700 ${script}.new && sync -- ${script}.new && mv ${script}.new ${script} && sync -- ${headHome} || exit 1
# Before the old one goes: whoever finds nobody serving meanwhile says that nothing starts it at a boot.
${bootProgram(way, cluster, look.home)}
${old === undefined ? '' : stopProgram([old])}
# A Ray that mantad starts again makes files as the first one did.
umask "$mask"
${startText(cluster)}# The next look finds a supervisor, or knows that there is none.
i=0; while [ $i -lt 40 ] && [ ! -f ${headHome}/clusters/${cluster}/supervisor.lock ]; do sleep 0.05; i=$((i + 1)); done
exit 0
`,
    options,
  );
  if (code !== 0) throw launcherErrors.NotShipped({ host: host.name, what: 'mantad', detail: stderr.trim() });
  if (upgrades) await settled(host, cluster, { ...options, within: upgradedWithin });
  return /^manta-no-boot$/m.test(stdout) ? 'none' : way;
}

/** What the supervisor needs to bring the old version back, should the new one not come up. */
function upgradeFrom(look: HeadLook, cluster: string): Upgrade {
  const script = `${look.home}/${bootScript(cluster)}`;
  return {
    from: look.serving?.version ?? versionOf(look.supervisorRuntime ?? ''),
    to: version,
    since: look.now,
    command: ['sh', script],
    record: JSON.stringify(look.cluster),
    boot: { kept: `${script}.before`, script },
  };
}

/** Sh text, for the home of the user there. Written before anything changes, so that whatever is cut short can go back. */
function keepOldText(cluster: string, upgrade: Upgrade, runtime: string): string {
  const folder = `${headHome}/clusters/${cluster}`;
  const script = bootScript(cluster);
  const file = `${folder}/upgrade.json`;
  // Repeated after a lost connection it finds the new script there, and keeps what it has kept.
  return `grep -qF ${shellQuoted(runtime)} ${script} 2>/dev/null || cp -p ${script} ${script}.before || exit 1
rm -f ${folder}/upgrade-failed.json
[ -f ${file} ] || { printf %s ${shellQuoted(JSON.stringify(upgrade))} >${file}.new && sync -- ${file}.new && mv ${file}.new ${file} && sync -- ${folder} || exit 1; }`;
}

/** Waits until the new version has taken over; throws where the old one was brought back. */
async function settled(host: Host, cluster: string, options: RunOptions): Promise<void> {
  const folder = `${headHome}/clusters/${cluster}`;
  const { stdout } = await host.sh(
    `cd "$HOME" || exit 1
i=0; while [ $i -lt 2400 ] && [ -f ${folder}/upgrade.json ]; do sleep 0.1; i=$((i + 1)); done
[ ! -f ${folder}/upgrade.json ] || { echo pending; exit 0; }
cat ${folder}/upgrade-failed.json 2>/dev/null
rm -f ${bootScript(cluster)}.before
exit 0
`,
    options,
  );
  if (stdout.trim() === '') return;
  if (stdout.trim() === 'pending') throw launcherErrors.UpgradePending({ name: cluster, host: host.name, to: version });
  const { from, to, why } = JSON.parse(stdout) as FailedUpgrade;
  throw launcherErrors.UpgradeUndone({ name: cluster, from, to, why, log: `${host.name}:${folder}/mantad.log` });
}

/** Of a runtime by its name: `0.1.0-3f2a…`. */
export const versionOf = (runtime: string): string => runtime.replace(/-[0-9a-f]+$/, '');

/** Ends mantad and its supervisor on the head, and what would start them again. */
export async function stopMantad(host: Host, cluster: string, look: HeadLook, options: RunOptions): Promise<void> {
  const pids = [look.supervisorPid, look.mantadPid].filter((pid) => pid !== undefined);
  await host.sh(
    `cd "$HOME" || exit 0
${stopProgram(pids)}
${endMastersProgram(cluster)}
${removeBootText(cluster)}exit 0
`,
    options,
  );
}

/** Connections to the workers outlive mantad by minutes; their sockets, named by sixteen digits, stand in its folder. */
const endMastersProgram = (cluster: string): string =>
  `for s in ${headHome}/clusters/${cluster}/????????????????; do [ -S "$s" ] && ssh -S "$s" -O exit manta >/dev/null 2>&1; done`;

/** Told once, waited for, then killed. */
const stopProgram = (pids: readonly number[]): string =>
  pids.length === 0
    ? ''
    : `for p in ${pids.join(' ')}; do kill "$p" 2>/dev/null; done
i=0; while [ $i -lt 100 ]; do n=0; for p in ${pids.join(' ')}; do kill -0 "$p" 2>/dev/null && n=1; done; [ $n = 0 ] && break; sleep 0.1; i=$((i + 1)); done
for p in ${pids.join(' ')}; do kill -9 "$p" 2>/dev/null; done`;

function bootProgram(way: BootWay, cluster: string, home: string): string {
  const script = `"$HOME/${bootScript(cluster)}"`;
  if (way === 'cron') return `${addCronText(cluster, home)} || echo manta-no-boot`;
  if (way === 'systemd')
    return `mkdir -p .config/systemd/user
printf '%s\\n' '[Unit]' 'Description=Manta cluster ${cluster}' '[Service]' "ExecStart=/bin/sh "${script} 'KillMode=process' '[Install]' 'WantedBy=default.target' >.config/systemd/user/${bootUnit(cluster)}
sync -- .config/systemd/user/${bootUnit(cluster)} .config/systemd/user
systemctl --user daemon-reload >/dev/null 2>&1; systemctl --user enable ${bootUnit(cluster)} >/dev/null 2>&1
loginctl enable-linger >/dev/null 2>&1`;
  return '';
}
