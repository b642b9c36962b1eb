import type { EventSink } from '../../base/events.ts';
import type { Host, RunOptions } from '../../base/host.ts';
import { bringupErrors } from '../errors.ts';
import { bringupEvents } from '../events.ts';
import type { CommandPlace, NodeOrder } from '../node/node.ts';
import { offendingCommand } from './commands.ts';
import { endRay } from './end.ts';
import { checkProgram, readFindings } from './probe.ts';
import type { RayVersions } from './versions.ts';

export interface CheckOptions extends RunOptions {
  /** Milliseconds since the start commands began: a Ray without a mark that is younger came from them. @default 10 min */
  readonly elapsed?: number;
  readonly events: EventSink;
}

/** What the start of a node came to. */
export interface RunningRay {
  /** Ray's name for the run of the cluster; the folder of its logs. */
  readonly session: string;
  /** Where Ray's dashboard listens; on the head, unless it was left out. */
  readonly dashboardPort?: number;
  /** Those that the last `ray start` found, unless they were hidden from it. */
  readonly versions?: RayVersions;
}

/**
 * Looks at what the start commands have left running: a raylet; no monitor of Ray's own, which is ended where one is
 * found; on the head a GCS and a dashboard that refuse anyone who has no token, and a dashboard that only this machine
 * reaches. Where that does not hold Ray is ended, and the error names the command that started it. One round trip.
 */
export async function checkRay(
  host: Host,
  order: NodeOrder,
  place: CommandPlace,
  options: CheckOptions,
): Promise<RunningRay> {
  const { stdout } = await host.sh(checkProgram(order, place, options.elapsed ?? 600_000), options);
  const found = readFindings(stdout);
  const node = host.name;
  for (const pid of found.monitors) options.events.emit(bringupEvents.rayMonitorEnded, { node, pid });
  if (found.session === undefined) throw bringupErrors.RayNotRunning({ node });

  const command = offendingCommand(order.commands.start);
  const refuse = async (error: Error): Promise<never> => {
    await endRay(host, { cluster: order.cluster, instance: order.instance, place }, options);
    throw error;
  };
  const open = found.exposed.find((listener) => !listener.loopback);
  if (open) return await refuse(bringupErrors.RayReachable({ node, address: open.address, port: open.port, command }));
  if (order.kind === 'head' && order.token !== undefined) {
    if (found.gcs !== 'refused') return await refuse(bringupErrors.RayOpen({ node, part: 'the GCS', command }));
    if (found.dashboard === 'open')
      return await refuse(bringupErrors.RayOpen({ node, part: 'the dashboard', command }));
  }
  const port = found.exposed[0]?.port;
  const { session, versions } = found;
  return { session, ...(port !== undefined && { dashboardPort: port }), ...(versions && { versions }) };
}
