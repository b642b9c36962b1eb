/** Bytes through `manta dashboard --port-forward`, beside `kubectl port-forward`, from the same pod. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Measurement } from '../../scripts/bench.ts';
import type { KubeBed } from '../../test/lab/kube-bed.ts';
import { median, note } from '../launcher/bed.ts';
import { clusterOf, rounds, withKubeBed } from './bed.ts';

const megabytes = 200;

export const measureTunnel = (): Promise<Measurement[]> =>
  withKubeBed(async (bed) => {
    bed.bed.write('tunnel.yaml', clusterOf(bed, 'tunnel'));
    await bed.bed.manta(['kube', 'apply', '--yes', '--timeout', '600', 'tunnel.yaml']);
    const [pod = ''] = (await bed.kube.kubectl(['get', 'pods', '-l', 'ray.io/cluster=tunnel', '-o', 'name']))
      .trim()
      .split('\n');
    const serve = `mkdir -p /tmp/files && cd /tmp/files && head -c ${megabytes}M /dev/urandom > data && (setsid python3 -m http.server 8000 > /dev/null 2>&1 &)`;
    await bed.kube.kubectl(['exec', pod, '--', 'bash', '-c', serve]);
    const ours = await open(bed, ['/opt/manta/bin/manta', 'dashboard', 'kube:tunnel', '--port-forward', '8000'], 8000);
    const theirs = await open(bed, ['kubectl', 'port-forward', pod, '18000:8000'], 18000);
    const rates = { ours: [] as number[], theirs: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      rates.ours.push(await rate(bed, 8000));
      rates.theirs.push(await rate(bed, 18000));
      note(`tunnel: manta ${rates.ours.at(-1)!.toFixed(0)} MB/s, kubectl ${rates.theirs.at(-1)!.toFixed(0)} MB/s`);
    }
    for (const child of [ours, theirs]) child.kill('SIGINT');
    const ratio = median(rates.ours) / median(rates.theirs);
    return [
      {
        name: 'kube: bytes per second through the tunnel, median, beside kubectl port-forward',
        ours: `${median(rates.ours).toFixed(0)} MB/s`,
        theirs: `${median(rates.theirs).toFixed(0)} MB/s`,
        ratio,
        goal: 'at least 0.8x',
        reached: ratio >= 0.8,
      },
    ];
  });

/** Resolves when the port answers. */
async function open({ bed }: KubeBed, command: readonly string[], port: number): Promise<ChildProcess> {
  const child = bed.laptop.spawn(command, { user: 'root', stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on('line', (line) => {
      said += `${line}\n`;
    });
  for (let attempt = 0; attempt < 200 && child.exitCode === null; attempt++) {
    const { code } = await bed.laptop.exec(['curl', '-sf', '-o', '/dev/null', `http://127.0.0.1:${port}/`]);
    if (code === 0) return child;
  }
  throw new Error(`'${command.join(' ')}' opened nothing on port ${port}: ${said}`);
}

async function rate({ bed }: KubeBed, port: number): Promise<number> {
  const command = ['curl', '-sf', '-o', '/dev/null', '-w', '%{speed_download}', `http://127.0.0.1:${port}/data`];
  return Number(await bed.laptop.must(command)) / 1e6;
}
