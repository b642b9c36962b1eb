import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { readShell, shellCommand } from '../../base/shell/shell-file.ts';
import { sshErrors } from '../../base/ssh/errors.ts';
import { acceptPin, keysIn, type PinnedKey, readPin } from '../../base/ssh/pins.ts';
import type { HostKeyPin } from '../../base/ssh/target.ts';
import { targetOf } from '../../bringup/node/reach.ts';
import { ownHosts } from '../../core/spec/local.ts';
import { reloadText } from '../../state/mantad/boot-entry.ts';
import { folderOnHead, reachedFrom } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';
import type { RemoteCluster } from '../reach/remote-cluster.ts';
import type { FoundNode } from './find-node.ts';
import { hostOfNode } from './find-node.ts';

const storing = readShell(new URL('./store-pin.sh', import.meta.url));

/** What a node shows for itself: the key that is pinned, or another one. */
export type KeyState =
  | { readonly kind: 'same'; readonly pinned: readonly PinnedKey[] }
  | { readonly kind: 'changed'; readonly pinned: readonly PinnedKey[]; readonly offered: string | undefined };

/** Connects to see which key the node shows. A worker is known by it on the head too, where mantad goes by it. */
export async function lookAtKey(cluster: RemoteCluster, node: FoundNode, signal: AbortSignal): Promise<KeyState> {
  const pin = pinOf(cluster, node);
  const pinned = readPin(pin);
  try {
    const host = await hostOfNode(cluster, node, signal);
    await host.connect({ signal, within: 15_000 });
  } catch (error) {
    if (!sshErrors.HostKeyChanged.is(error)) throw error;
    return { kind: 'changed', pinned, offered: error.data.offered };
  }
  const here = readPin(pin);
  const there = node.kind === 'worker' ? await pinnedOnHead(cluster, pin, signal) : [];
  const known = (key: PinnedKey): boolean => here.some(({ fingerprint }) => fingerprint === key.fingerprint);
  if (there.length === 0 || there.some(known)) return { kind: 'same', pinned: here };
  return { kind: 'changed', pinned: there, offered: here.map(({ fingerprint }) => fingerprint).join(', ') };
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
  const isOffered = ({ fingerprint }: PinnedKey): boolean => offered?.includes(fingerprint) === true;
  // A machine that has met the node only since has its new key already.
  if (!readPin(pin).some(isOffered)) {
    acceptPin(pin);
    const host = await hostOfNode(cluster, node, signal);
    await host.connect({ signal, within: 15_000 });
  }
  const taken = readPin(pin);
  if (offered !== undefined && !taken.some(isOffered)) {
    acceptPin(pin);
    throw launcherErrors.ExecKeyMoved({ host: node.address, seen: offered, now: taken.map((key) => key.fingerprint) });
  }
  if (node.kind === 'worker') await tellHead(cluster, pin, signal);
  return taken;
}

/** mantad has pins of its own, which began as copies of these. */
const fileOnHead = (cluster: string, pin: HostKeyPin): string =>
  `${folderOnHead(cluster).files.hosts}/${basename(pin.file)}`;

async function pinnedOnHead({ head, name }: RemoteCluster, pin: HostKeyPin, signal: AbortSignal): Promise<PinnedKey[]> {
  const { stdout } = await head.sh(`cat ~/${fileOnHead(name, pin)} 2>/dev/null`, { signal });
  return keysIn(stdout.split('\n'), pin.alias);
}

/** mantad is told too: it asks the node again at once. */
async function tellHead({ head, name }: RemoteCluster, pin: HostKeyPin, signal: AbortSignal): Promise<void> {
  const store = shellCommand(storing, { file: fileOnHead(name, pin), text: readFileSync(pin.file, 'utf8') });
  await head.sh(`${store} || exit 1\n${reloadText(name)}`, { signal });
}

function pinOf({ spec, folder }: RemoteCluster, node: FoundNode): HostKeyPin {
  const { head, pools } = ownHosts(spec);
  const host = [...(head ? [head] : []), ...pools.flatMap(({ hosts }) => hosts)].find(
    (each) => each.name === node.address,
  );
  return targetOf(host ?? { name: node.address, address: node.address }, reachedFrom(folder)).pin;
}
