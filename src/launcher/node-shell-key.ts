import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { shellQuoted } from '../base/shell-quote.ts';
import { sshErrors } from '../base/ssh/errors.ts';
import { acceptPin, type PinnedKey, readPin } from '../base/ssh/pins.ts';
import type { HostKeyPin } from '../base/ssh/target.ts';
import { targetOf } from '../bringup/reach.ts';
import { ownHosts } from '../core/spec/local.ts';
import { headHome } from '../head/state-folder.ts';
import { execErrors } from './exec-errors.ts';
import type { FoundNode } from './node-shell.ts';
import { hostOfNode } from './node-shell.ts';
import type { RemoteCluster } from './remote-cluster.ts';

/** What a node shows for itself: the key that is pinned, or another one. */
export type KeyState =
  | { readonly kind: 'same'; readonly pinned: readonly PinnedKey[] }
  | { readonly kind: 'changed'; readonly pinned: readonly PinnedKey[]; readonly offered: string | undefined };

/** Connects to see which key the node shows. */
export async function lookAtKey(cluster: RemoteCluster, node: FoundNode, signal: AbortSignal): Promise<KeyState> {
  const pin = pinOf(cluster, node);
  const pinned = readPin(pin);
  try {
    const host = await hostOfNode(cluster, node, signal);
    await host.connect({ signal, within: 15_000 });
    return { kind: 'same', pinned: readPin(pin) };
  } catch (error) {
    if (!sshErrors.HostKeyChanged.is(error)) throw error;
    return { kind: 'changed', pinned, offered: error.data.offered };
  }
}

/**
 * Forgets the pinned key and pins the one that the node shows now, here and, for a worker, on the head. Refuses when that
 * is not the key that was looked at: then it is not one machine that answers.
 */
export async function acceptKey(
  cluster: RemoteCluster,
  node: FoundNode,
  offered: string | undefined,
  signal: AbortSignal,
): Promise<readonly PinnedKey[]> {
  const pin = pinOf(cluster, node);
  acceptPin(pin);
  const host = await hostOfNode(cluster, node, signal);
  await host.connect({ signal, within: 15_000 });
  const taken = readPin(pin);
  if (offered !== undefined && !taken.some(({ fingerprint }) => offered.includes(fingerprint))) {
    acceptPin(pin);
    throw execErrors.KeyMoved({ host: node.address, seen: offered, now: taken.map((key) => key.fingerprint) });
  }
  if (node.kind === 'worker') await tellHead(cluster, pin, signal);
  return taken;
}

/** mantad has pins of its own, which began as copies of these. */
async function tellHead({ head, name }: RemoteCluster, pin: HostKeyPin, signal: AbortSignal): Promise<void> {
  const file = `"$HOME"/${headHome}/clusters/${name}/hosts/${basename(pin.file)}`;
  const text = shellQuoted(readFileSync(pin.file, 'utf8'));
  await head.sh(
    `[ -d "$(dirname ${file})" ] || exit 0; umask 077; printf %s ${text} >${file}.new && mv ${file}.new ${file}`,
    {
      signal,
    },
  );
}

function pinOf({ spec, folder, name }: RemoteCluster, node: FoundNode): HostKeyPin {
  const { head, pools } = ownHosts(spec);
  const host = [...(head ? [head] : []), ...pools.flatMap(({ hosts }) => hosts)].find(
    (each) => each.name === node.address,
  );
  const from = { cluster: name, pins: folder.files.hosts, control: folder.path };
  return targetOf(host ?? { name: node.address, address: node.address }, from).pin;
}
