import { mergePatch, readObject } from '../../../base/kube/objects.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { type Json, type JsonMap, textAt } from '../../../core/kube/object.ts';
import { serveChangeOf } from '../../../core/serve/change.ts';
import { readServeConfig } from '../../../core/serve/config.ts';
import { serveErrors } from '../../../core/serve/errors.ts';
import { rayPath } from '../../../kube/surroundings.ts';
import { waitForService } from '../../../kube/wait-service.ts';
import type { Io } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { withKube } from '../kube/connect.ts';
import { changeText, isChange } from './change-text.ts';

/** What a command line says of the cluster. */
export interface SaidService {
  readonly cluster?: string;
  readonly options: {
    readonly clusterName?: string | undefined;
    readonly context?: string | undefined;
    readonly namespace?: string | undefined;
  };
}

export interface ServiceWork {
  /** The new config, by the one that the RayService has; its text as KubeRay reads it. */
  readonly config: (now: Json) => { readonly value: JsonMap; readonly text: string };
  readonly plan: boolean;
  readonly yes: boolean;
  readonly wait: boolean;
  readonly timeout: number;
}

/**
 * Changes the Serve config of a RayService, which is where KubeRay has it from: what is sent to Serve itself, it would undo.
 * Undefined where the command line means no RayService.
 */
export async function changeService(said: SaidService, work: ServiceWork, io: Io): Promise<number | undefined> {
  const found = nameIn(said, io);
  if (found === undefined) return undefined;
  const { context, namespace } = said.options;
  return await withKube({ context, namespace: found.namespace ?? namespace }, io, async (client) => {
    const { signal, events } = io;
    const where = client.access.namespace;
    const { name } = found;
    const path = rayPath(where, 'rayservices', name);
    const live = (await readObject(client, { path, call: `read the RayService '${name}'`, signal })) as
      | Json
      | undefined;
    if (live === undefined) return undefined;
    const now =
      readServeConfig(textAt(live, 'spec', 'serveConfigV2') ?? '', 'operator', { file: name }).config?.value ?? {};
    const { value, text } = work.config(now);
    const change = serveChangeOf(now, value);
    io.out(io.json ? `${JSON.stringify({ plan: change })}\n` : changeText(change));
    if (work.plan) return 0;
    const nobody = () => serveErrors.NobodyAgreed({ what: 'deploying a Serve config' });
    if (isChange(change) && !(await confirmed('Deploy this?', work.yes, io, { nobody }))) {
      io.out('Nothing was deployed.\n');
      return 1;
    }
    await mergePatch(
      client,
      { path, call: `change the RayService '${name}'`, signal },
      { spec: { serveConfigV2: text } },
    );
    const waiting = { client, clock: wallClock, events, timeout: work.timeout * 1_000, signal };
    if (work.wait) await waitForService({ namespace: where, name }, waiting);
    return 0;
  });
}

/** The name of the RayService that the command line means; undefined where it means none. */
export async function serviceMeant(said: SaidService, io: Io): Promise<string | undefined> {
  const found = nameIn(said, io);
  if (found === undefined) return undefined;
  const { context, namespace } = said.options;
  return await withKube({ context, namespace: found.namespace ?? namespace }, io, async (client) => {
    const { name } = found;
    const path = rayPath(client.access.namespace, 'rayservices', name);
    const live = await readObject(client, { path, call: `read the RayService '${name}'`, signal: io.signal });
    return live === undefined ? undefined : name;
  });
}

/** `kube:[NAMESPACE/][rayservice/]NAME` */
function nameIn({ cluster, options }: SaidService, { env }: Io): { namespace?: string; name: string } | undefined {
  const word = cluster ?? options.clusterName ?? env['MANTA_CLUSTER'] ?? '';
  if (!word.startsWith('kube:')) return undefined;
  const parts = word.slice('kube:'.length).split('/');
  const name = parts.pop() ?? '';
  const kind = parts.at(-1) ?? '';
  if (/^(?:raycluster|rayjob)s?$/i.test(kind)) return undefined;
  const [namespace] = /^rayservices?$/i.test(kind) ? parts.slice(0, -1) : parts;
  return { name, ...(namespace !== undefined && { namespace }) };
}
