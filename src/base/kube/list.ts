import type { KubeCall, KubeClient } from './client.ts';
import { kubeErrors } from './errors.ts';

export interface Listed {
  readonly items: readonly unknown[];
  /** From where a watch goes on. */
  readonly resourceVersion: string;
}

interface Page {
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string };
  readonly items?: readonly unknown[] | null;
}

const pageSize = 500;
const mostPages = 1_000;

/**
 * All objects of a list, page by page, so that no answer is large. A list whose pages took so long that the server forgot
 * where it was is asked for once more, whole.
 */
export async function listAll(client: KubeClient, call: KubeCall): Promise<Listed> {
  try {
    return await listPages(client, call);
  } catch (error) {
    if (!kubeErrors.Expired.is(error)) throw error;
    const page = (await client.json(call)) as Page;
    return { items: page.items ?? [], resourceVersion: page.metadata?.resourceVersion ?? '' };
  }
}

async function listPages(client: KubeClient, call: KubeCall): Promise<Listed> {
  const items: unknown[] = [];
  let next: string | undefined;
  for (let at = 0; at < mostPages; at++) {
    const page = (await client.json({ ...call, query: { ...call.query, limit: pageSize, continue: next } })) as Page;
    items.push(...(page.items ?? []));
    next = page.metadata?.continue || undefined;
    if (next === undefined) return { items, resourceVersion: page.metadata?.resourceVersion ?? '' };
  }
  throw kubeErrors.Failed({ call: call.call, detail: `the list has more than ${mostPages} pages`, status: 200 });
}
