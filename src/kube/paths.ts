import type { KubeClient } from '../base/kube/client.ts';
import { readObject } from '../base/kube/objects.ts';
import { manifestErrors } from '../core/kube/errors.ts';
import { type Json, listAt, textAt } from '../core/kube/object.ts';

/** What an object is called in requests, and whether it is in a namespace. */
interface Resource {
  readonly path: string;
  readonly isNamespaced: boolean;
}

/** Paths of objects, by what the API server says of its kinds; each group is asked for once. */
export class KubePaths {
  readonly #client: KubeClient;
  readonly #groups = new Map<string, Promise<readonly Json[]>>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async pathOf(object: Json, namespace: string, signal: AbortSignal): Promise<string> {
    const [apiVersion, kind, name] = [
      textAt(object, 'apiVersion')!,
      textAt(object, 'kind')!,
      textAt(object, 'metadata', 'name')!,
    ];
    const { path, isNamespaced } = await this.#find(apiVersion, kind, signal);
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const inside = isNamespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
    return `${root}${inside}/${path}/${encodeURIComponent(name)}`;
  }

  async #find(apiVersion: string, kind: string, signal: AbortSignal): Promise<Resource> {
    const known = this.#groups.get(apiVersion) ?? this.#ask(apiVersion, signal);
    this.#groups.set(apiVersion, known);
    const found = (await known).find(
      (each) => textAt(each, 'kind') === kind && !(textAt(each, 'name') ?? '').includes('/'),
    );
    const path = textAt(found, 'name');
    if (path === undefined) throw manifestErrors.NoKind({ kind, apiVersion });
    return { path, isNamespaced: (found as { readonly namespaced?: boolean }).namespaced === true };
  }

  async #ask(apiVersion: string, signal: AbortSignal): Promise<readonly Json[]> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const call = `list the kinds of ${apiVersion}`;
    return listAt((await readObject(this.#client, { path: root, call, signal })) as Json | undefined, 'resources');
  }
}
