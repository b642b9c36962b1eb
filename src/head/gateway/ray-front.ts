import type { RayEngine } from '../../engines/ray/engine.ts';
import { RayHttp } from '../../engines/ray/jobs/http.ts';
import { type RayJob, RayJobsApi, type RayVersion } from '../../engines/ray/jobs/jobs-api.ts';

/** Ray as it is reached from its head's host: what the gateway stands in front of. */
export interface RayFront {
  /** `host:port` of Ray's dashboard, as far as is known. */
  readonly address: string;
  /** Ray's one token; absent where Ray runs without. */
  readonly token?: string;
  /** What Ray said last of its version; undefined until it has. */
  readonly version: RayVersion | undefined;
  /** Nobody answered there: finds out where the dashboard is now. */
  lookAgain(): Promise<void>;
  /** Jobs that were submitted to Ray itself, and drivers that were started by hand. */
  jobsOfOthers(signal: AbortSignal): Promise<readonly RayJob[]>;
  /** Programs that joined the cluster, by the names of the jobs that started them. */
  drivers: RayEngine['drivers'];
  /** The same of one job, by its name or by the id of its driver. */
  driverOf: RayEngine['driverOf'];
  /** `host:port` where the metrics of the autoscaler are to be had, for Ray's service discovery. */
  servesMetricsAt(address: string): void;
}

export interface RayFrontEdges {
  readonly engine: Pick<RayEngine, 'value' | 'jobsOfOthers' | 'drivers' | 'driverOf' | 'announceMetrics'>;
  /** Where the dashboard was told to listen. */
  readonly dashboardPort: number;
  /** The head's own address. */
  readonly head: string;
  readonly token?: string;
}

const lookWithin = 5_000;
/** A Ray that was restarted may be another version. */
const versionHolds = 10_000;

/** Asks Ray where its dashboard is only when nobody is where it was told to be: what jobs can write, they can forge. */
export function rayFront({ engine, dashboardPort, head, token }: RayFrontEdges): RayFront {
  const told = `127.0.0.1:${dashboardPort}`;
  const http = new RayHttp(token);
  let moved: string | undefined;
  let looking: Promise<void> | undefined;
  let version: RayVersion | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;

  const look = async (): Promise<void> => {
    const value = await engine.value('webui:url', 'dashboard', AbortSignal.timeout(lookWithin)).catch(() => undefined);
    const address = value === undefined ? '' : Buffer.from(value).toString();
    const host = address.slice(0, address.lastIndexOf(':'));
    const isHere = /:\d{1,5}$/.test(address) && ['127.0.0.1', 'localhost', '[::1]', head].includes(host);
    moved = isHere ? address : undefined;
  };
  const askVersion = async (): Promise<void> => {
    if (performance.now() - askedAt < versionHolds) return;
    askedAt = performance.now();
    const api = new RayJobsApi(`http://${front.address}`, http);
    version = await api.version(AbortSignal.timeout(lookWithin)).catch(() => version);
  };

  const front: RayFront = {
    get address() {
      return moved ?? told;
    },
    ...(token !== undefined && { token }),
    get version() {
      void askVersion();
      return version;
    },
    lookAgain() {
      looking ??= look().finally(() => (looking = undefined));
      return looking;
    },
    jobsOfOthers: (signal) => engine.jobsOfOthers(signal),
    drivers: (signal) => engine.drivers(signal),
    driverOf: (id, signal) => engine.driverOf(id, signal),
    servesMetricsAt(address) {
      // A Ray that is not there yet is told when it is met.
      engine.announceMetrics(address, AbortSignal.timeout(lookWithin)).catch(() => {});
    },
  };
  void askVersion();
  return front;
}
