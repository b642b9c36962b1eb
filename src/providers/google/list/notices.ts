import { readShell, shellProgram } from '../../../base/shell/shell-file.ts';
import type { Clock, Duration, Instant } from '../../../base/time/clock.ts';
import type { InstanceNotices } from '../../provider.ts';
import { metadataUrl } from '../client/links.ts';

const program = readShell(new URL('./google-notices.sh', import.meta.url));

type Notice = 'preempted' | 'maintenance';

/** So long after its notice a machine is gone. */
const goneAfter: Readonly<Record<Notice, Duration>> = { preempted: 30_000, maintenance: 60_000 };
/** Machines with accelerators are told of maintenance an hour before. */
const goneAfterWithGpus: Duration = 3600_000;

/** What the metadata server tells machines and nobody else. */
export class GoogleNotices implements InstanceNotices {
  readonly program = shellProgram(program, { metadata: metadataUrl });
  readonly #clock: Clock;
  readonly #heard = new Map<string, { readonly notice: Notice; readonly at: Instant }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  heard(id: string, said: string): void {
    const notice = noticeOf(said);
    const known = this.#heard.get(id);
    if (notice === undefined || known?.notice === notice || known?.notice === 'preempted') return;
    this.#heard.set(id, { notice, at: this.#clock.now() });
  }

  /** When a machine will be gone; undefined where it was told nothing. */
  endOf(id: string, hasGpus: boolean): Instant | undefined {
    const known = this.#heard.get(id);
    if (known === undefined) return undefined;
    return known.at + (known.notice === 'maintenance' && hasGpus ? goneAfterWithGpus : goneAfter[known.notice]);
  }

  /** Others are gone, and their ids do not come again. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#heard.keys()) if (!ids.has(id)) this.#heard.delete(id);
  }
}

/** A machine that is moved while it runs stays. */
function noticeOf(said: string): Notice | undefined {
  if (said === 'preempted TRUE') return 'preempted';
  return said === 'maintenance-event TERMINATE_ON_HOST_MAINTENANCE' ? 'maintenance' : undefined;
}
