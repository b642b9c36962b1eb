import type { EventSink } from '../../base/events.ts';
import type { Host } from '../../base/host.ts';
import { sshHost } from '../../base/ssh/host.ts';
import { wallClock } from '../../base/wall-clock.ts';
import { targetOf } from '../../bringup/reach.ts';
import { aliveText, bootScript, startText } from '../boot-entry.ts';
import { headErrors } from '../errors.ts';
import { knownHosts } from '../known-hosts.ts';
import { type GivenFile, loadSpec } from '../load-spec.ts';
import {
  type ClusterFile,
  type Ended,
  headHome,
  reachedFrom,
  readCluster,
  type Serving,
  type StateFolder,
} from '../state-folder.ts';
import { turnedOff } from '../turn-off/ended.ts';
import { endedInCloud } from './cloud-ended.ts';
import { clientErrors } from './errors.ts';
import { clientEvents } from './events.ts';
import { lineTo } from './line.ts';
import { tellSkew } from './skew.ts';
import type { Place } from './target.ts';

/** The line to mantad on the head of a cluster of other machines: through SSH, to a socket in the cluster's folder. */
export class RemoteLine {
  readonly #folder: StateFolder;
  readonly #host: Host;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #events: EventSink;
  #place: Promise<Place> | undefined;

  constructor(
    folder: StateFolder,
    record: Pick<ClusterFile, 'name' | 'config'>,
    env: Readonly<Record<string, string | undefined>>,
    events: EventSink,
    given?: GivenFile,
  ) {
    this.#folder = folder;
    this.#env = env;
    this.#events = events;
    const { head } = knownHosts(loadSpec(record, given), folder);
    if (head === undefined) throw headErrors.NotRunning({ name: folder.name });
    this.#host = sshHost(targetOf({ ...head, address: head.outside ?? head.address }, reachedFrom(folder)), {
      clock: wallClock,
    });
  }

  /** Where requests go. Asked again after a failure it opens the line anew. */
  place(signal: AbortSignal): Promise<Place> {
    this.#place ??= this.#open(signal).catch((error: unknown) => {
      this.#place = undefined;
      throw error;
    });
    return this.#place;
  }

  /** The owner's token, for a line that is there already. */
  async token(signal: AbortSignal): Promise<string> {
    return (await this.#serving(signal)).token;
  }

  /** The line is not what it was: mantad may have come back elsewhere. */
  lost(): void {
    this.#place = undefined;
  }

  async #open(signal: AbortSignal): Promise<Place> {
    const { serving, token } = await this.#serving(signal);
    tellSkew(this.#folder.name, serving.version, this.#events);
    return { url: serving.url, token, socket: await lineTo(this.#host, serving, signal) };
  }

  async #serving(signal: AbortSignal): Promise<ServingThere> {
    const before = readCluster(this.#folder)?.ended;
    if (before !== undefined) throw turnedOff(this.#folder.name, before);
    const found = await servingOn(this.#host, this.#folder.name, signal).catch(async (error: unknown) => {
      // A head of a cloud that cannot be reached may have gone, and its address to another.
      const ended = await endedInCloud(this.#folder, this.#env, signal).catch(() => undefined);
      if (ended === undefined) throw error;
      return { ended };
    });
    if ('isThere' in found)
      throw headErrors.NotServed({ name: this.#folder.name, host: this.#host.name, isThere: found.isThere });
    if ('ended' in found) throw turnedOff(this.#folder.name, found.ended);
    if (found.startedNow) this.#events.emit(clientEvents.startedThere, { host: this.#host.name });
    if (found.token === '')
      throw clientErrors.NoToken({ file: `${this.#host.name}:tokens/owner`, problem: 'it is empty' });
    return found;
  }

  close(): Promise<void> {
    return this.#host.close();
  }
}

interface ServingThere {
  readonly serving: Serving;
  readonly token: string;
  /** It did not run, and was started by this look. */
  readonly startedNow: boolean;
}

/**
 * Who serves the cluster on its head, or how it ended by itself, or whether it is there and nobody does. A mantad that
 * ought to run and does not, as after a reboot of a machine that starts nothing by itself, is started.
 */
async function servingOn(
  host: Host,
  cluster: string,
  signal: AbortSignal,
): Promise<ServingThere | { readonly ended: Ended } | { readonly isThere: boolean }> {
  const folder = `${headHome}/clusters/${cluster}`;
  const { stdout } = await host.sh(
    `cd "$HOME" || exit 0
${aliveText}
serves() { p=$(holder ${folder}/mantad.lock); alive "$p" mantad && grep -qs "\\"pid\\": *$p\\b" ${folder}/mantad.json; }
kept() { alive "$(holder ${folder}/supervisor.lock)" supervisor; }
ended() { grep -q '"ended": *{' ${folder}/cluster.json; }
wait_served() { i=0; while [ $i -lt 150 ] && ! serves && ! ended; do sleep 0.1; i=$((i + 1)); done; }
[ -f ${folder}/cluster.json ] || exit 0
if ! serves && kept; then wait_served; fi
if ! serves && ended; then echo ended; cat ${folder}/cluster.json; exit 0; fi
if ! serves && [ -f ${bootScript(cluster)} ]; then
  ${startText(cluster)}  echo started; wait_served
fi
serves || { echo unserved; exit 0; }
echo "token $(cat ${folder}/tokens/owner 2>/dev/null)"
cat ${folder}/mantad.json
`,
    { signal },
  );
  const json = stdout.slice(Math.max(0, stdout.indexOf('{')));
  const token = /^token (\S+)$/m.exec(stdout)?.[1];
  try {
    const { ended } = /^ended$/m.test(stdout) ? (JSON.parse(json) as ClusterFile) : {};
    if (ended !== undefined) return { ended };
    return { serving: JSON.parse(json) as Serving, token: token ?? '', startedNow: /^started$/m.test(stdout) };
  } catch {
    return { isThere: /^unserved$/m.test(stdout) };
  }
}
