import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { saysDiskFull } from '../../../base/files/disk-full.ts';
import type { Host, RunOptions } from '../../../base/host.ts';
import { readShell, shellCommand, shellProgram } from '../../../base/shell/shell-file.ts';
import { shellQuoted } from '../../../base/shell/shell-quote.ts';
import { sshErrors } from '../../../base/ssh/errors.ts';
import { version } from '../../../base/version.ts';
import { bringupErrors } from '../../../bringup/errors.ts';
import { addCronText, bootScript, bootUnit, removeBootText, startText } from '../../../state/mantad/boot-entry.ts';
import type { FailedUpgrade, Upgrade } from '../../../state/mantad/upgrade.ts';
import { folderOnHead, headHome } from '../../../state/state-folder.ts';
import { launcherErrors } from '../../errors.ts';
import { type HeadLook, runtimeHome } from '../look.ts';
import { nodeBinary, type Runtime } from './runtime.ts';

const finding = readShell(new URL('./find-node.sh', import.meta.url));
const shippingManta = readShell(new URL('./ship-manta.sh', import.meta.url));
const shippingNode = readShell(new URL('./ship-node.sh', import.meta.url));
const keepingOld = readShell(new URL('./keep-old.sh', import.meta.url));
const writingScript = readShell(new URL('./boot-script.sh', import.meta.url));
const writingUnit = readShell(new URL('./boot-unit.sh', import.meta.url));
const stopping = readShell(new URL('./stop-processes.sh', import.meta.url));
const awaitingSupervisor = readShell(new URL('./wait-supervisor.sh', import.meta.url));
const awaitingUpgrade = readShell(new URL('./wait-upgrade.sh', import.meta.url));
const endingConnections = readShell(new URL('./end-connections.sh', import.meta.url));

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
  const { stdout } = await host.sh(shellProgram(finding, { runtimes: runtimeHome, oldest: oldestNode }), options);
  return /^manta-node (.+)$/m.exec(stdout)?.[1];
}

async function shipManta(host: Host, runtime: Runtime, options: RunOptions): Promise<void> {
  await send(
    host,
    createReadStream(runtime.archive),
    shellProgram(shippingManta, { runtimes: runtimeHome, runtime: runtime.name }),
    'Manta',
    options,
  );
}

async function shipNode(host: Host, look: HeadLook, env: Env, options: RunOptions): Promise<string> {
  const binary = await nodeBinary(look.platform, look.arch, env, options.signal);
  const folder = `${runtimeHome}/node-${process.versions.node}`;
  const digest = await sha256(binary);
  await send(
    host,
    createReadStream(binary).pipe(createGzip({ level: 1 })),
    shellProgram(shippingNode, { runtimes: runtimeHome, folder, digest }),
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
  const { clusterText: record } = look;
  const upgrade = old === undefined || record === undefined ? undefined : upgradeFrom(look, cluster, record);
  const upgrades = upgrade !== undefined || look.upgrading === true;
  const texts = [
    // A Ray that mantad starts again makes files as the first one did: the umask of the user stays.
    ...(upgrade === undefined ? [] : [`${keepOldText(cluster, upgrade, runtime.name)} || exit 1`]),
    `${shellCommand(writingScript, { boot_script: script, line: `exec ${line}` })} || exit 1`,
    // Before the old one goes: a command that finds nobody serving meanwhile says that nothing starts it at a boot.
    ...bootTexts(way, cluster, look.home),
    ...(old === undefined ? [] : [shellCommand(stopping, {}, [String(old)])]),
    startText(cluster),
    shellProgram(awaitingSupervisor, { folder: folderOnHead(cluster).path }),
  ];
  const { code, stdout, stderr } = await host.sh(texts.join('\n'), options);
  if (code !== 0) throw launcherErrors.NotShipped({ host: host.name, what: 'mantad', detail: stderr.trim() });
  if (upgrades) await settled(host, cluster, { ...options, within: upgradedWithin });
  return /^manta-no-boot$/m.test(stdout) ? 'none' : way;
}

/** What the supervisor needs to bring the old version back, should the new one not come up. */
function upgradeFrom(look: HeadLook, cluster: string, record: string): Upgrade {
  const script = `${look.home}/${bootScript(cluster)}`;
  return {
    from: look.serving?.version ?? versionOf(look.supervisorRuntime ?? ''),
    to: version,
    since: look.now,
    command: ['sh', script],
    record,
    boot: { kept: `${script}.before`, script },
  };
}

/** Sh command; it is run before anything changes, so that whatever is cut short can go back. */
function keepOldText(cluster: string, upgrade: Upgrade, runtime: string): string {
  return shellCommand(keepingOld, {
    folder: folderOnHead(cluster).path,
    boot_script: bootScript(cluster),
    runtime,
    upgrade: JSON.stringify(upgrade),
  });
}

/** Waits until the new version has taken over; throws where the old one was brought back. */
async function settled(host: Host, cluster: string, options: RunOptions): Promise<void> {
  const folder = folderOnHead(cluster).path;
  const text = shellProgram(awaitingUpgrade, { folder, boot_script: bootScript(cluster) });
  const { stdout } = await host.sh(text, options);
  if (stdout.trim() === '') return;
  if (stdout.trim() === 'pending') throw launcherErrors.UpgradePending({ name: cluster, host: host.name, to: version });
  const { from, to, why } = JSON.parse(stdout) as FailedUpgrade;
  throw launcherErrors.UpgradeUndone({
    name: cluster,
    from,
    to,
    why,
    log: `${host.name}:${folderOnHead(cluster).files.daemonLog}`,
  });
}

/** Of a runtime by its name: `0.1.0-3f2a…`. */
export const versionOf = (runtime: string): string => runtime.replace(/-[0-9a-f]+$/, '');

/** Ends mantad and its supervisor on the head, and what would start them again. */
export async function stopMantad(host: Host, cluster: string, look: HeadLook, options: RunOptions): Promise<void> {
  const pids = [look.supervisorPid, look.mantadPid].filter((pid) => pid !== undefined);
  const texts = [
    shellCommand(stopping, {}, pids.map(String)),
    shellCommand(endingConnections, { folder: folderOnHead(cluster).path }),
    removeBootText(cluster),
    'exit 0\n',
  ];
  await host.sh(texts.join('\n'), options);
}

function bootTexts(way: BootWay, cluster: string, home: string): readonly string[] {
  if (way === 'none') return [];
  if (way === 'cron') return [`${addCronText(cluster, home)} || echo manta-no-boot`];
  return [shellCommand(writingUnit, { cluster, unit: bootUnit(cluster), boot_script: bootScript(cluster) })];
}
