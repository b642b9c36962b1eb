#!/usr/bin/env node
// needs: hosts
/** `manta-lab`: hosts to try things on by hand. The library is lab.ts; README.md shows both. */
import { parseArgs } from 'node:util';
import { ensureModels } from '../scripts/botocore-models.ts';
import { ensureDiscovery } from '../scripts/google-discovery.ts';
import { ensureKube } from '../scripts/kube-build.ts';
import { openLabAws } from './aws/open.ts';
import { openLabCloud } from './cloud/open.ts';
import { openLabGoogle } from './google/open.ts';
import { kubeHost, openLabKube } from './kube/open.ts';
import { attachLab, type HostOptions, type Lab, type LabHost, labProblem, openLab } from './lab.ts';
import { isLeft, type LabRecord, readRecords, removeLab, sweep } from './record.ts';

const usage = `usage: manta-lab COMMAND [options]
  up [--hosts N] [--ray [--ray-version V]] [--podman] [--cron] [--node] [--disk SIZE]
                        a laptop (h0) and N hosts (h1 and on), until 'down'
  cloud [--hosts N] [the rest as for up]   a lab with a cloud whose machines have the rest, until Ctrl-C
  aws [--hosts N] [the rest as for up]     the same with a fake of AWS
  google [--hosts N] [the rest as for up]  the same with a fake of Google Cloud
  kube [--hosts N]                         a lab with Kubernetes and KubeRay on N nodes (1), until Ctrl-C
  down [--lab K | --all]            end a lab made by 'up', or all, and what dead processes left
  ls                    labs and their hosts
  exec [--user U] HOST COMMAND...   run a command on a host, without SSH
  ps HOST               processes of a host, seen from outside
  kill | boot | reboot HOST         power; the disk and the host key stay
  freeze | thaw HOST    stop all its processes, or let them go on
  cut | mend HOST       its network cable
  slow HOST [--latency MS] [--kbps N] [--loss SHARE] | fast HOST
  drop HOST             end its SSH connections once
  refuse | accept HOST  its sshd
  rekey HOST            a new host key, as after an installation
  fill | unfill HOST    its disk
--lab K says which lab; it may be left out while 'up' made only one.`;

class UsageError extends Error {}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const hostCommands: Readonly<Record<string, (host: LabHost, values: Values) => Promise<unknown>>> = {
  kill: (host) => host.kill(),
  boot: (host) => host.boot(),
  reboot: (host) => host.reboot(),
  freeze: (host) => host.freeze(),
  thaw: (host) => host.thaw(),
  cut: (host) => host.cut(),
  mend: (host) => host.mend(),
  fast: (host) => host.fast(),
  drop: (host) => host.dropConnections(),
  refuse: (host) => host.refuse(),
  accept: (host) => host.accept(),
  rekey: (host) => host.changeHostKey(),
  fill: (host) => host.fillDisk(),
  unfill: (host) => host.freeDisk(),
  slow: (host, values) =>
    host.slow({
      latencyMs: numberOf('latency', values.latency),
      kbps: numberOf('kbps', values.kbps),
      loss: numberOf('loss', values.loss),
    }),
  ps: async (host) => {
    for (const { pid, hostPid, command } of host.processes()) say(`${pid}\t${hostPid}\t${command.join(' ')}`);
  },
};

type Values = ReturnType<typeof readWords>['values'];

function readWords(words: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  return parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      ...{ hosts: text, lab: text, user: text, disk: text, 'ray-version': text, latency: text, kbps: text, loss: text },
      ...{ ray: flag, podman: flag, cron: flag, node: flag, all: flag, help: flag },
    },
  });
}

async function main(words: readonly string[]): Promise<number> {
  // What follows the host is the command's own.
  const exec = words[0] === 'exec' ? splitExec(words.slice(1)) : undefined;
  const { values, positionals } = parsed(exec === undefined ? words : ['exec', ...exec.own]);
  const [command = '', name, ...more] = positionals;
  if (values.help || command === '') {
    say(usage);
    return values.help ? 0 : 2;
  }
  const problem = labProblem();
  if (problem !== undefined) throw new Error(problem);
  if (command === 'up') return up(values);
  if (command === 'cloud') return cloud(values);
  if (command === 'aws') return aws(values);
  if (command === 'google') return google(values);
  if (command === 'kube') return kube(values);
  if (command === 'down') return down(values);
  if (command === 'ls') return list();
  if (command !== 'exec' && hostCommands[command] === undefined) throw new UsageError(`unknown command '${command}'`);
  if (name === undefined || more.length > 0) throw new UsageError(`'${command}' takes one host`);
  const host = hostOf(await attachLab(chosen(values)), name);
  if (exec !== undefined) return run(host, exec.command, values.user);
  await hostCommands[command]!(host, values);
  return 0;
}

function parsed(words: readonly string[]): ReturnType<typeof readWords> {
  try {
    return readWords(words);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function splitExec(words: readonly string[]): { own: readonly string[]; command: readonly string[] } {
  let at = 0;
  while (words[at]?.startsWith('--')) at += words[at]!.includes('=') ? 1 : 2;
  const rest = words.slice(at + 1);
  return { own: words.slice(0, at + 1), command: rest[0] === '--' ? rest.slice(1) : rest };
}

function hostOptions(values: Values): HostOptions {
  const version = values['ray-version'];
  return {
    podman: values.podman ?? false,
    cron: values.cron ?? false,
    ...(values.node && { node: true }),
    ...((values.ray || version !== undefined) && { ray: version ?? true }),
    ...(values.disk !== undefined && { disk: values.disk }),
  };
}

async function up(values: Values): Promise<number> {
  const lab = await openLab({ hosts: numberOf('hosts', values.hosts) || 4, kept: true, ...hostOptions(values) });
  say(`lab ${lab.id}`);
  for (const host of [lab.laptop, ...lab.hosts]) say(line(host));
  if (lab.registry !== undefined) say(`images: ${Object.values(lab.registry.images).join(' ')}`);
  say(`try: manta-lab exec --lab ${lab.id} h0 ssh -o StrictHostKeyChecking=accept-new h1`);
  return 0;
}

async function cloud(values: Values): Promise<number> {
  const image = hostOptions(values);
  const lab = await openLab({ hosts: numberOf('hosts', values.hosts), ...image });
  try {
    const opened = await openLabCloud(lab, { image });
    const file = '/root/.lab-cloud-token';
    await lab.laptop.must(['sh', '-c', 'umask 077; cat > "$0"', file], { user: 'root', input: `${opened.token}\n` });
    say(`lab ${lab.id}, with a cloud at ${opened.endpoint}; the laptop's root has the token in ${file}`);
    say(`from this machine: ${opened.localEndpoint}, admin token ${opened.adminToken}`);
    say(`try: manta-lab exec --lab ${lab.id} h0 sh`);
    await interrupted();
    await opened.close();
  } finally {
    await lab.close();
  }
  return 0;
}

async function aws(values: Values): Promise<number> {
  await ensureModels(say);
  const has = hostOptions(values);
  const image = { ...has, ...(has.ray && { boto3: true }) };
  const lab = await openLab({ hosts: numberOf('hosts', values.hosts), ...image });
  try {
    const opened = await openLabAws(lab, { image, retired: true });
    const { accessKeyId, secretAccessKey } = opened.credentials;
    const lines = ['[default]', `aws_access_key_id = ${accessKeyId}`, `aws_secret_access_key = ${secretAccessKey}`];
    const write = (file: string, text: readonly string[]) =>
      lab.laptop.must(['sh', '-c', 'umask 077; mkdir -p ~/.aws; cat > "$0"', file], {
        user: 'root',
        input: `${text.join('\n')}\n`,
      });
    await write('/root/.aws/credentials', lines);
    await write('/root/.aws/config', ['[default]', 'region = us-west-2', `endpoint_url = ${opened.endpoint}`]);
    say(`lab ${lab.id}, with AWS at ${opened.endpoint}; the laptop's root has it in ~/.aws`);
    say('from this machine:');
    for (const [name, value] of Object.entries({ ...opened.environment(), AWS_ENDPOINT_URL: opened.localEndpoint }))
      say(`  export ${name}=${value}`);
    say(`  admin: ${opened.localEndpoint}/admin, token ${opened.adminToken}`);
    say(`try: manta-lab exec --lab ${lab.id} h0 sh`);
    await interrupted();
    await opened.close();
  } finally {
    await lab.close();
  }
  return 0;
}

async function google(values: Values): Promise<number> {
  await ensureDiscovery(say);
  const has = hostOptions(values);
  const image = { ...has, ...(has.ray && { googleClient: true }) };
  const lab = await openLab({ hosts: numberOf('hosts', values.hosts), ...image });
  try {
    const opened = await openLabGoogle(lab, { image, retired: true });
    await opened.equip(lab.laptop);
    say(`  ${opened.project.id} in ~/.config/gcloud, and the rest in the environment of login shells`);
    say('from this machine:');
    for (const [name, value] of Object.entries(opened.environment())) say(`  export ${name}=${value}`);
    say(`  admin: ${opened.localEndpoint}/admin, token ${opened.adminToken}`);
    say(`try: manta-lab exec --lab ${lab.id} h0 sh -l`);
    await interrupted();
    await opened.close();
  } finally {
    await lab.close();
  }
  return 0;
}

async function kube(values: Values): Promise<number> {
  await ensureKube(say);
  const count = numberOf('hosts', values.hosts) || 1;
  const lab = await openLab({ hosts: Array.from({ length: count }, () => kubeHost) });
  try {
    const [host, ...workers] = lab.hosts;
    const opened = await openLabKube(lab, host!, workers);
    await opened.equip(lab.laptop);
    say(`lab ${lab.id}, with Kubernetes at ${opened.server}; the laptop's root has it in ~/.kube`);
    say(`images: ${Object.values(lab.registry!.images).join(' ')}`);
    say(
      `try: manta-lab exec --lab ${lab.id} h1 env KUBECONFIG=/var/lib/containers/kube/users/admin.yaml /opt/kube/kubectl get pods -A`,
    );
    await interrupted();
  } finally {
    await lab.close();
  }
  return 0;
}

const interrupted = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });

async function down(values: Values): Promise<number> {
  const swept = await sweep();
  const asked = values.lab === undefined ? undefined : numberOf('lab', values.lab);
  const records = readRecords().filter(({ id }) => asked === undefined || id === asked);
  const doomed = records.filter(({ owner }) => owner === undefined);
  const kept = records.find(({ owner }) => owner !== undefined);
  if (asked !== undefined && kept !== undefined)
    throw new Error(`lab ${asked} belongs to process ${kept.owner!.pid} and ends with it`);
  if (doomed.length > 1 && !values.all)
    throw new UsageError(`several labs are up (${doomed.map(({ id }) => id).join(', ')}): say --lab or --all`);
  for (const record of doomed) await removeLab(record);
  const ended = [...swept, ...doomed.map(({ id }) => id)];
  if (asked !== undefined && !ended.includes(asked)) throw new Error(`there is no lab ${asked}`);
  say(ended.length === 0 ? 'there was no lab to end' : `ended: ${ended.map((id) => `lab ${id}`).join(', ')}`);
  return 0;
}

async function list(): Promise<number> {
  for (const record of readRecords()) {
    const whose = record.owner === undefined ? 'until it is taken down' : `of process ${record.owner.pid}`;
    say(`lab ${record.id}, ${isLeft(record) ? 'left behind' : whose}`);
    if (isLeft(record) || record.keeper === undefined) continue;
    const lab = await attachLab(record);
    for (const host of [lab.laptop, ...lab.hosts]) say(line(host));
  }
  return 0;
}

function run(host: LabHost, command: readonly string[], user: string | undefined): Promise<number> {
  if (command.length === 0) throw new UsageError("'exec' takes a host and a command");
  const child = host.spawn(command, { stdio: 'inherit', ...(user !== undefined && { user }) });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 255));
  });
}

const line = (host: LabHost): string =>
  `  ${host.name}\t${host.address}\t${host.address6}\t${host.up ? `${host.processes().length} processes` : 'down'}`;

function chosen({ lab }: Values): LabRecord {
  const running = readRecords().filter((record) => !isLeft(record) && record.keeper !== undefined);
  const id = lab === undefined ? undefined : numberOf('lab', lab);
  const found = running.filter((record) => (id === undefined ? record.owner === undefined : record.id === id));
  if (found.length === 1) return found[0]!;
  if (found.length > 1)
    throw new UsageError(`several labs are up (${found.map((each) => each.id).join(', ')}): say --lab`);
  throw new Error(id === undefined ? "no lab is up: 'manta-lab up' makes one" : `there is no lab ${id}`);
}

function hostOf(lab: Lab, name: string): LabHost {
  const found = [lab.laptop, ...lab.hosts].find((host) => host.name === name);
  if (found === undefined) throw new Error(`lab ${lab.id} has no host '${name}': it has h0 to h${lab.hosts.length}`);
  return found;
}

function numberOf(option: string, value: string | undefined): number {
  const number = Number(value ?? 0);
  if (!Number.isFinite(number) || number < 0) throw new UsageError(`--${option} takes a number, not '${value}'`);
  return number;
}

// Whoever reads may have read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`manta-lab: ${(error as Error).message}\n${error instanceof UsageError ? `${usage}\n` : ''}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
