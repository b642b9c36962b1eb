import type { Duration, Instant } from '../../base/time/clock.ts';
import type { LateRefusal } from '../provider.ts';

/**
 * What Manta writes down on the RayCluster: every launch with a seat for each replica that it asked for, and which unit (a pod, or
 * the pods of one slice) sits there. It is changed with `replicas` in one patch, so that a launch either is in both or in neither.
 */
export interface LaunchBook {
  readonly launches: readonly BookedLaunch[];
  /** `replicas` of each group as Manta wrote it last. */
  readonly written: Readonly<Record<string, number>>;
}

export interface BookedLaunch {
  readonly token: string;
  readonly group: string;
  readonly at: Instant;
  readonly tags: Readonly<Record<string, string>>;
  /** Empty: all have ended. The token is kept for a while, so that it makes nothing again. */
  readonly seats: readonly Seat[];
}

export interface Seat {
  /** Within its launch. */
  readonly n: number;
  /** How many units have sat here before: the operator replaces those that die. */
  readonly before: number;
  /** Undefined while there is none yet. */
  readonly unit?: string;
  /** Its pods, by their places. */
  readonly pods?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
  /** It was told to end, then. */
  readonly endingSince?: Instant;
  readonly failed?: Pick<LateRefusal, 'kind' | 'detail'> & { readonly at: Instant };
}

const emptyBook: LaunchBook = { launches: [], written: {} };

/** For as long a launch may be repeated: the autoscaler forgets what ended after ten minutes. */
const endedKept: Duration = 3_600_000;
/** Of launches that have ended. */
const mostEnded = 200;

/** A note that is not ours, or of another version, counts as none: what runs is then taken in as it is. */
export function readBook(note: string | undefined): LaunchBook {
  if (note === undefined) return emptyBook;
  try {
    const { launches, written } = JSON.parse(note) as Partial<WrittenBook>;
    if (!Array.isArray(launches) || typeof written !== 'object') return emptyBook;
    return { written, launches: (launches as WrittenBook['launches']).map(fullLaunch) };
  } catch {
    return emptyBook;
  }
}

/** Annotations have 256 KiB: what goes without saying is left out, so that 1,500 pods that were asked for one by one have room. */
export const writeBook = ({ launches, written }: LaunchBook): string =>
  JSON.stringify({ written, launches: launches.map(shortLaunch) });

type WrittenSeat = Partial<Seat>;
interface WrittenLaunch extends Omit<BookedLaunch, 'tags' | 'seats'> {
  readonly tags?: BookedLaunch['tags'];
  readonly seats: readonly WrittenSeat[];
}
interface WrittenBook {
  readonly launches: readonly WrittenLaunch[];
  readonly written: LaunchBook['written'];
}

const shortLaunch = ({ tags, seats, ...launch }: BookedLaunch): WrittenLaunch => ({
  ...launch,
  ...(Object.keys(tags).length > 0 && { tags }),
  seats: seats.map(({ n, before, pods, ...seat }, at) => ({
    ...seat,
    ...(n !== at && { n }),
    ...(before > 0 && { before }),
    ...(pods !== undefined && pods.join() !== seat.unit && { pods }),
  })),
});

const fullLaunch = ({ tags = {}, seats, ...launch }: WrittenLaunch): BookedLaunch => ({
  ...launch,
  tags,
  seats: seats.map((seat, at) => ({
    n: at,
    before: 0,
    ...(seat.unit !== undefined && { pods: [seat.unit] }),
    ...seat,
  })),
});

/** Without launches that ended long ago. */
export function pruned({ launches, written }: LaunchBook, now: Instant): LaunchBook {
  const ended = launches.filter(({ seats, at }) => seats.length === 0 && now - at < endedKept).slice(-mostEnded);
  const kept = new Set(ended);
  return { written, launches: launches.filter((each) => each.seats.length > 0 || kept.has(each)) };
}
