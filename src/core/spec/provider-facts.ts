import type { Market } from '../instance.ts';
import type { Resources } from '../resources.ts';
import type { NodeType, PlainMap } from './cluster.ts';
import type { Key } from './keys/key.ts';
import type { Path } from './problem.ts';
import type { ProblemKind } from './problems.ts';

/**
 * Where the machines of a provider come from: processes of this machine, hosts that the file lists, instances that are
 * launched, or something else that starts them without a launcher.
 */
export type ProviderKind = 'this-machine' | 'own-hosts' | 'cloud' | 'elsewhere';

/**
 * All that reading a cluster file needs to know of one provider type. Callers pass in a table of these: nothing in `core/`
 * knows a provider by its name.
 */
export interface ProviderFacts {
  /** As `provider.type` has it. */
  readonly name: string;
  readonly kind: ProviderKind;
  /**
   * The keys that it reads beyond those of every provider: under `provider`, and under
   * `available_node_types.<type>.node_config`. Several providers may declare one key.
   */
  readonly keys?: readonly Key[];
  /** What stands in for top-level keys that a file does not have. */
  readonly defaults?: PlainMap;
  /** What Ray does with a file of this provider: fills in `defaults`, or leaves it as it is. Absent: Ray does not know it. */
  readonly ray?: 'defaults' | 'as-is';
  readonly offers?: OfferFacts;
  /**
   * The provider is asked for resources that the file leaves out, so that a list without CPU is not complete. Absent: what
   * the file lists is all there is.
   */
  readonly completesResources?: boolean;
  /** The machine that a launch configuration asks for, as the provider names it. */
  readonly machineOf?: (launch: PlainMap) => string | undefined;
  /** CPUs and GPUs that a launch configuration gives away by the name of its machine. Memory is not guessed. */
  readonly likelyResources?: (launch: PlainMap) => Resources | undefined;
  /** Keys under `provider` without which every launch fails. */
  readonly needs?: readonly string[];
  /** What nearly always hurts later on this provider. */
  readonly traps?: (file: TrapFile) => void;
  /** What became of a provider that files of earlier years name. */
  readonly removed?: { readonly what: string; readonly instead: string };
}

/** In which zones and markets there are instances, and how a file says which are meant. */
export interface OfferFacts {
  readonly markets: readonly Market[];
  /** `provider.availability_zone` lists names of zones. */
  readonly zones?: boolean;
  /** The zone of a launch configuration; null where it is bound to something that is in one. Undefined: any zone will do. */
  readonly zoneOf?: (launch: PlainMap) => string | null | undefined;
  /** Absent: a launch configuration may be in the words of any other provider. */
  readonly isSpot?: (launch: PlainMap) => boolean;
  /** Whether a launch configuration is for a reservation. */
  readonly isReserved?: (launch: PlainMap) => boolean;
  /** Hosts that live and end together. */
  readonly hostsPerSlice?: (launch: PlainMap) => number;
}

/** A file whose traps are looked for. Only what the file itself says is judged, never a default. */
export interface TrapFile {
  readonly provider: PlainMap;
  readonly auth: PlainMap;
  /** The node types that the file describes, and where. */
  readonly written: readonly { readonly type: NodeType; readonly path: Path }[];
  readonly add: <Data>(kind: ProblemKind<Data>, path: Path, data: Data) => void;
  /** At the key in place of its value. */
  readonly addAtKey: <Data>(kind: ProblemKind<Data>, path: Path, data: Data) => void;
}
