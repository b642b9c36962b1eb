import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildWeb } from '../../scripts/build-web.ts';
import { FakeCluster, type SeedOptions } from './fake/cluster.ts';
import { type FakeServer, serveFake } from './fake/server.ts';

export interface FakeHead extends FakeServer {
  readonly cluster: FakeCluster;
  close(): Promise<void>;
}

export interface FakeHeadOptions extends Partial<SeedOptions> {
  readonly port?: number;
  /** Path in front of the page, with slashes at both ends. @default / */
  readonly prefix?: string;
}

/** A head without a cluster behind it; fake-head.md says how it behaves. */
export async function startFakeHead(options: FakeHeadOptions = {}): Promise<FakeHead> {
  const folder = await mkdtemp(join(tmpdir(), 'manta-page-'));
  await buildWeb(folder);
  const cluster = new FakeCluster({
    seed: options.seed ?? 1,
    nodes: options.nodes ?? 1000,
    jobs: options.jobs ?? 10_000,
    lively: options.lively ?? false,
  });
  const server = await serveFake(cluster, folder, options.port ?? 0, options.prefix ?? '/');
  return {
    ...server,
    cluster,
    close: async () => {
      cluster.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8265' },
      nodes: { type: 'string', default: '1000' },
      jobs: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
    },
  });
  const head = await startFakeHead({
    port: Number(values.port),
    nodes: Number(values.nodes),
    jobs: Number(values.jobs),
    seed: Number(values.seed),
    lively: true,
  });
  process.stdout.write(`${head.ticket()}\ntoken ${head.token}\n`);
  process.once('SIGINT', () => void head.close());
}
