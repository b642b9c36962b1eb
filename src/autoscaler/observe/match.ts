import type { InstanceId } from '../../core/instance.ts';
import { type InstanceOutcome, type InstanceRecord, isFinal } from '../../core/lifecycle.ts';
import { mantaTags } from '../../core/ray-tags.ts';
import type { ProviderInstance } from '../../providers/provider.ts';
import type { ScalingFact } from '../journal.ts';
import type { Ledger } from '../ledger.ts';
import type { Reading } from './observe.ts';

/** What is known of an instance once its machine is. */
export function launchedAs(machine: ProviderInstance, ledger: Ledger): Extract<InstanceOutcome, { kind: 'launched' }> {
  const before = ledger.ofMachine(machine.id);
  const former = before?.launchToken === machine.launchToken ? undefined : before && nodesOf(before);
  return {
    kind: 'launched',
    providerId: machine.id,
    ...(machine.slice && { slice: machine.slice.id }),
    ...(machine.slice?.resources && { extra: machine.slice.resources }),
    ...(former !== undefined && former.length > 0 && { formerNodes: former }),
  };
}

/** The nodes that have run on its machine. */
export const nodesOf = ({ formerNodes = [], node }: InstanceRecord): readonly string[] =>
  node === undefined || formerNodes.includes(node) ? formerNodes : [...formerNodes, node];

/** A machine that was stopped, or ended, and that a launch under another token has started. */
export const isRestarted = (known: InstanceRecord, token: string): boolean =>
  (known.status === 'machine-stopped' || isFinal(known.status)) && token !== '' && token !== known.launchToken;

type Adopted = Extract<ScalingFact, { kind: 'adopted' }>;

/** Ties machines to the records that asked for them, and takes in those that nobody asked for. */
export function matchMachines(
  ledger: Ledger,
  machines: ReadonlyMap<string, ProviderInstance>,
  reading: Reading,
): Matches {
  const claimed = new Map<InstanceId, string>();
  const adopted: Adopted[] = [];
  const restarted = new Set<InstanceRecord>();
  for (const machine of machines.values()) {
    const known = ledger.ofMachine(machine.id);
    const again = known !== undefined && isRestarted(known, machine.launchToken);
    if (known !== undefined && !again) {
      const back =
        isFinal(known.status) && reading.now - known.since >= reading.listLag && machine.state !== 'stopping';
      if (back) adopted.push(adopt(machine, 'stopped', { kind: 'ended-before', instance: known.id }, reading));
      continue;
    }
    const ofToken = ledger.ofToken(machine.launchToken);
    const free = ofToken.find(
      (record) => record.providerId === undefined && !isFinal(record.status) && !claimed.has(record.id),
    );
    if (free !== undefined) {
      claimed.set(free.id, machine.id);
    } else if (machine.state !== 'stopping' && !reading.launching(machine.launchToken)) {
      const why =
        ofToken.length > 0 ? { kind: 'extra' as const, token: machine.launchToken } : { kind: 'unknown' as const };
      const status = machine.state === 'stopped' ? 'machine-stopped' : 'allocated';
      adopted.push(adopt(machine, status, why, reading, launchedAs(machine, ledger).formerNodes));
    } else continue;
    if (again && !isFinal(known.status)) restarted.add(known);
  }
  return { claimed, adopted, restarted };
}

interface Matches {
  /** Machines of records that did not know theirs yet. */
  readonly claimed: ReadonlyMap<InstanceId, string>;
  readonly adopted: readonly Adopted[];
  /** Records whose machine is another record's now. */
  readonly restarted: ReadonlySet<InstanceRecord>;
}

function adopt(
  machine: ProviderInstance,
  status: 'allocated' | 'stopped' | 'machine-stopped',
  why: Adopted['why'],
  reading: Reading,
  formerNodes?: readonly string[],
): Adopted {
  const launchHash = machine.tags[mantaTags.launchHash];
  return {
    kind: 'adopted',
    at: reading.now,
    why,
    record: {
      id: reading.newId(),
      type: machine.type,
      kind: machine.kind,
      status,
      requestedAt: machine.launchedAt,
      since: reading.now,
      attempts: 1,
      launchToken: machine.launchToken,
      providerId: machine.id,
      ...(machine.zone === undefined ? {} : { zone: machine.zone }),
      ...(machine.market === undefined ? {} : { market: machine.market }),
      ...(launchHash === undefined ? {} : { launchHash }),
      ...(machine.slice === undefined ? {} : { slice: machine.slice.id }),
      ...(machine.slice?.resources === undefined ? {} : { extra: machine.slice.resources }),
      ...(formerNodes === undefined ? {} : { formerNodes }),
    },
  };
}
