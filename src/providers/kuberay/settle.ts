import type { Duration, Instant } from '../../base/time/clock.ts';
import type { ProviderInstance } from '../provider.ts';
import { type BookedLaunch, type LaunchBook, pruned, type Seat } from './launch-book.ts';
import { desiredReplicas, type ScaledCluster, type WorkerGroup, type WorkerPod } from './ray-cluster.ts';

export interface Patience {
  /** For a pod that no node has room for. Cloud providers take minutes to add a node. */
  readonly unschedulable: Duration;
  /** For a pod that the operator could not make. */
  readonly refused: Duration;
  /** For how long what failed is listed. */
  readonly shown: Duration;
}

export const usualPatience: Patience = { unschedulable: 600_000, refused: 5_000, shown: 120_000 };

/** For so long the operator may still make a pod that it was asked for before. */
const madeWithin: Duration = 10_000;

/** What a group should be, in the RayCluster's own terms. */
export interface WantedGroup {
  readonly group: WorkerGroup;
  readonly replicas: number;
  readonly workersToDelete: readonly string[];
}

export interface Settled {
  readonly book: LaunchBook;
  /** Every group, changed or not. */
  readonly wanted: readonly WantedGroup[];
  readonly instances: readonly ProviderInstance[];
  /** Groups whose `replicas` somebody else has lowered below what runs there. */
  readonly reset: readonly { readonly group: string; readonly from: number; readonly to: number }[];
}

interface Unit {
  readonly name: string;
  readonly pods: readonly WorkerPod[];
  readonly createdAt: Instant;
  readonly isLeaving: boolean;
}

type Failure = Omit<NonNullable<Seat['failed']>, 'at'>;

/** A seat with its launch, on the way to what it becomes. */
interface Place {
  readonly launch: Omit<BookedLaunch, 'seats'>;
  seat: Seat;
}

/**
 * Brings the book in line with what there is. Each replica that the operator is to make has a seat; new units take the free seats,
 * oldest first, so that the one which the operator makes for a dead one sits where that one sat. `pods` must have been listed after
 * the cluster was read: a pod that is missing then is gone. Pure; changes nothing.
 */
export function settle(
  cluster: ScaledCluster,
  book: LaunchBook,
  pods: readonly WorkerPod[],
  now: Instant,
  patience: Patience,
): Settled {
  const known = book.launches.map(({ seats: _, ...launch }) => launch);
  const settled = cluster.groups.map((group) => {
    const places = book.launches
      .filter((launch) => launch.group === group.name)
      .flatMap(({ seats, ...launch }) => seats.map((seat): Place => ({ launch, seat })));
    return new Group(
      group,
      places,
      pods.filter((pod) => pod.group === group.name),
      now,
    ).settle(cluster.refusal, patience, book.written[group.name]);
  });
  const places = settled.flatMap(({ places }) => places);
  const outside = places.map(({ launch }) => launch).filter(({ token }) => !known.some((each) => each.token === token));
  const launches = [...known, ...outside].map(
    (launch): BookedLaunch => ({
      ...launch,
      seats: places.flatMap(({ launch: { token }, seat }) => (token === launch.token ? [seat] : [])),
    }),
  );
  const wanted = settled.map(({ wanted }) => wanted);
  const written = Object.fromEntries(wanted.map(({ group, replicas }) => [group.name, replicas]));
  return {
    book: pruned({ launches, written }, now),
    wanted,
    instances: settled.flatMap(({ instances }) => instances),
    reset: wanted.flatMap(({ group: { name, replicas }, replicas: to }) =>
      replicas < to && replicas < (book.written[name] ?? 0) ? [{ group: name, from: replicas, to }] : [],
    ),
  };
}

/** Replicas that a group is to have: those that sit somewhere and stay. */
const stays = ({ seat }: Place): boolean => seat.endingSince === undefined && seat.failed === undefined;

class Group {
  readonly #group: WorkerGroup;
  readonly #units: ReadonlyMap<string, Unit>;
  readonly #now: Instant;
  #places: Place[];

  constructor(group: WorkerGroup, places: readonly Place[], pods: readonly WorkerPod[], now: Instant) {
    this.#group = group;
    this.#units = unitsOf(pods);
    this.#now = now;
    this.#places = [...places];
  }

  settle(
    refusal: string | undefined,
    patience: Patience,
    written: number | undefined,
  ): { places: readonly Place[]; wanted: WantedGroup; instances: readonly ProviderInstance[] } {
    this.#clear(patience);
    this.#takeSeats();
    this.#seatOthers(written);
    this.#giveUp(refusal, patience);
    const replicas = this.#places.filter(stays).length;
    return {
      places: this.#places,
      wanted: { group: this.#group, replicas, workersToDelete: this.#leaving() },
      instances: this.#places.flatMap((place) => this.#listed(place)),
    };
  }

  /** Seats whose unit has gone: of those that were to go nothing is left, the others are free for the next one. */
  #clear({ shown }: Patience): void {
    this.#places = this.#places.flatMap((place): Place[] => {
      const { unit, pods: _, ...seat } = place.seat;
      const isThere = unit !== undefined && this.#units.has(unit);
      if (seat.failed !== undefined) return isThere || this.#now - seat.failed.at < shown ? [place] : [];
      if (unit === undefined) {
        // The operator may have made its pod before it saw that nobody wants it any more.
        const isOver = seat.endingSince !== undefined && this.#now - seat.endingSince >= madeWithin;
        return isOver ? [] : [place];
      }
      if (isThere) return [place];
      return seat.endingSince !== undefined ? [] : [{ ...place, seat: { ...seat, before: seat.before + 1 } }];
    });
  }

  #takeSeats(): void {
    const free = this.#places.filter(({ seat }) => seat.unit === undefined && seat.failed === undefined);
    const inOrder = [...free.filter(stays), ...free.filter((place) => !stays(place))];
    for (const unit of this.#unseated()) {
      const place = inOrder.shift();
      if (place === undefined) return;
      place.seat = { ...place.seat, unit: unit.name, pods: unit.pods.map(({ name }) => name) };
    }
  }

  /** Units, and replicas that are to come, which nobody here asked for: from before, or by another hand. */
  #seatOthers(written: number | undefined): void {
    const { name: group, replicas } = this.#group;
    const add = (token: string, at: Instant, unit?: Unit): void => {
      const seat: Seat = {
        n: 0,
        before: 0,
        ...(unit && { unit: unit.name, pods: unit.pods.map(({ name }) => name) }),
      };
      this.#places.push({ launch: { token, group, at, tags: {} }, seat });
    };
    for (const unit of this.#unseated()) add(`outside-${unit.name}`, unit.createdAt, unit);
    const missing =
      written === undefined ? desiredReplicas(this.#group) - this.#places.filter(stays).length : replicas - written;
    for (let n = 0; n < missing; n++) add(`outside-${group}-${this.#now.toString(36)}-${n}`, this.#now);
  }

  /** In the order in which they were made. A slice counts once all its pods are there. */
  #unseated(): Unit[] {
    const seated = new Set(this.#places.map(({ seat }) => seat.unit));
    return [...this.#units.values()]
      .filter(({ name, pods, isLeaving }) => !seated.has(name) && !isLeaving && pods.length >= this.#group.hosts)
      .sort((one, other) => one.createdAt - other.createdAt || (one.name < other.name ? -1 : 1));
  }

  /** What was accepted and will not run is taken back; never below what the group has to have. */
  #giveUp(refusal: string | undefined, patience: Patience): void {
    let spare = this.#places.filter(stays).length - this.#group.least;
    for (const place of this.#places) {
      if (spare <= 0) return;
      const why = stays(place) ? this.#whyNot(place, refusal, patience) : undefined;
      if (why === undefined) continue;
      place.seat = { ...place.seat, failed: { ...why, at: this.#now } };
      spare -= 1;
    }
  }

  #whyNot({ launch, seat }: Place, refusal: string | undefined, patience: Patience): Failure | undefined {
    if (seat.unit === undefined) {
      const isDue = refusal !== undefined && this.#now - launch.at >= patience.refused;
      return isDue ? refusalOf(refusal) : undefined;
    }
    const stuck = this.#units.get(seat.unit)?.pods.find(({ unschedulable }) => unschedulable !== undefined);
    const { since, says } = stuck?.unschedulable ?? { since: this.#now, says: '' };
    return this.#now - since >= patience.unschedulable ? { kind: 'no-capacity', detail: says } : undefined;
  }

  /** Pods that are told to end and are still there. */
  #leaving(): readonly string[] {
    const { workersToDelete } = this.#group;
    const there = [...this.#units.values()].flatMap(({ pods }) => pods.map(({ name }) => name));
    const told = this.#places.filter((place) => !stays(place)).flatMap(({ seat }) => seat.pods ?? []);
    return [...new Set([...workersToDelete, ...told])].filter((name) => there.includes(name));
  }

  #listed({ launch, seat }: Place): ProviderInstance[] {
    const { hosts } = this.#group;
    const unit = seat.unit === undefined ? undefined : this.#units.get(seat.unit);
    // Of a slice that has lost a host, the rest is on its way out.
    const isWhole = unit !== undefined && unit.pods.length >= hosts;
    const isEnding = !stays({ launch, seat }) || unit?.isLeaving || (unit !== undefined && !isWhole);
    const slice = seat.unit ?? waitingId(launch.token, seat);
    const members: readonly (readonly [string, number, WorkerPod | undefined])[] =
      unit?.pods.map((pod) => [pod.name, pod.host, pod] as const) ??
      Array.from(
        { length: hosts },
        (_, host) => [seat.pods?.[host] ?? (hosts === 1 ? slice : `${slice}.${host}`), host, undefined] as const,
      );
    if (unit === undefined && seat.endingSince !== undefined) return [];
    return members.map(([id, host, pod]) => ({
      id,
      launchToken: launch.token,
      type: this.#group.name,
      kind: 'worker',
      state: isEnding ? 'stopping' : (pod?.state ?? 'pending'),
      market: 'on-demand',
      launchedAt: pod?.createdAt ?? launch.at,
      tags: { ...launch.tags, ...seat.tags },
      ...(pod?.address !== undefined && { address: { inside: pod.address } }),
      ...(seat.failed && {
        failed: { kind: seat.failed.kind, ...(seat.failed.detail && { detail: seat.failed.detail }) },
      }),
      ...(hosts > 1 && { slice: { id: slice, index: host, of: hosts } }),
    }));
  }
}

/** The name of a replica that has no pod yet. A seat that is free again has another one. */
const waitingId = (token: string, { n, before }: Seat): string => `${token}.${n}${before > 0 ? `.${before}` : ''}`;

function unitsOf(pods: readonly WorkerPod[]): ReadonlyMap<string, Unit> {
  return new Map(
    [...Map.groupBy(pods, ({ unit }) => unit)].map(([name, members]) => {
      const inOrder = members.toSorted((one, other) => one.host - other.host);
      return [
        name,
        {
          name,
          pods: inOrder,
          createdAt: Math.min(...inOrder.map(({ createdAt }) => createdAt)),
          isLeaving: inOrder.some(({ state }) => state === 'stopping'),
        },
      ];
    }),
  );
}

/** What the API server told the operator; undefined where it may let the pod in the next time. */
function refusalOf(says: string): Failure | undefined {
  if (/exceeded quota/i.test(says)) return { kind: 'quota', detail: says };
  return /forbidden|denied the request|violates PodSecurity/i.test(says) ? { kind: 'denied', detail: says } : undefined;
}
