import { text } from 'node:stream/consumers';
import { kubeErrors } from '../base/kube/errors.ts';
import { readObject } from '../base/kube/objects.ts';
import { askService } from '../base/kube/service-proxy.ts';
import { readOutsideJson } from '../base/outside-json.ts';
import { dig, type Json, type JsonMap, nameOf, textAt } from '../core/kube/object.ts';
import { type ServeApi, servePath } from '../core/serve/api.ts';
import { serveErrors } from '../core/serve/errors.ts';
import { ifAllowed, insidePath, type Place } from './surroundings.ts';

/** A look that takes longer counts as no answer: the next one is a second away. */
const patience = 5_000;

/** Serve on the pods of a RayCluster, asked through the API server. */
export class ServeOnPods implements ServeApi {
  readonly #place: Place;
  readonly #cluster: Json;

  constructor(place: Place, cluster: Json) {
    this.#place = place;
    this.#cluster = cluster;
  }

  /** As `details`, for a loop: undefined where nobody answers; `isBlind` where the user may not ask. */
  async look(): Promise<{ readonly details: Json | undefined; readonly isBlind?: boolean }> {
    const late = AbortSignal.timeout(patience);
    try {
      return { details: await this.#read(AbortSignal.any([this.#place.signal, late])) };
    } catch (error) {
      this.#place.signal.throwIfAborted();
      if (kubeErrors.Forbidden.is(error)) return { details: undefined, isBlind: true };
      const isSilent =
        late.aborted ||
        kubeErrors.Failed.is(error) ||
        kubeErrors.NotFound.is(error) ||
        kubeErrors.LoginRefused.is(error);
      if (isSilent || error instanceof SyntaxError) return { details: undefined };
      throw error;
    }
  }

  async details(): Promise<Json> {
    try {
      return await this.#read(this.#place.signal);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  async deploy(config: JsonMap): Promise<void> {
    try {
      await this.#ask({ method: 'PUT', body: config }, this.#place.signal);
    } catch (error) {
      if (kubeErrors.Invalid.is(error)) throw serveErrors.Refused({ words: error.data.detail }, error);
      throw this.#explained(error);
    }
  }

  async shutdown(): Promise<void> {
    try {
      await this.#ask({ method: 'DELETE' }, this.#place.signal);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  async #read(signal: AbortSignal): Promise<Json> {
    return readOutsideJson(await this.#ask({ method: 'GET' }, signal)) as Json;
  }

  async #ask(
    request: { readonly method: 'GET' | 'PUT' | 'DELETE'; readonly body?: unknown },
    signal: AbortSignal,
  ): Promise<string> {
    const { client, namespace } = this.#place;
    const name = nameOf(this.#cluster);
    const token = await this.#token();
    const answer = await askService(client, {
      ...request,
      namespace,
      service: textAt(this.#cluster, 'status', 'head', 'serviceName') || `${name}-head-svc`,
      port: textAt(this.#cluster, 'status', 'endpoints', 'dashboard') ?? '8265',
      path: servePath,
      // What stands between keeps `authorization` to itself.
      headers: token === undefined ? {} : { 'x-ray-authorization': `Bearer ${token}` },
      call: `ask Serve on the RayCluster '${name}'`,
      signal,
    });
    return await text(answer);
  }

  /** Ray's own token, where the cluster wants one; KubeRay keeps it in a Secret. */
  async #token(): Promise<string | undefined> {
    const { client, namespace, signal } = this.#place;
    if (textAt(this.#cluster, 'spec', 'authOptions', 'mode') !== 'token') return undefined;
    const secret = textAt(this.#cluster, 'spec', 'authOptions', 'secretName') ?? nameOf(this.#cluster).slice(-50);
    const path = `/api/v1/${insidePath(namespace)}/secrets/${encodeURIComponent(secret)}`;
    const found = await ifAllowed(readObject(client, { path, call: `read the Secret '${secret}'`, signal }));
    const value = textAt(dig(found as Json | undefined, 'data'), 'auth_token');
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8').trim();
  }

  #explained(error: unknown): unknown {
    const cluster = `the RayCluster '${nameOf(this.#cluster)}'`;
    if (kubeErrors.Failed.is(error) && error.data.status === 501) return serveErrors.NotInstalled({ cluster }, error);
    if (kubeErrors.Failed.is(error)) return serveErrors.Down({ cluster, words: error.data.detail }, error);
    return error;
  }
}
