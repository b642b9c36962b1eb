import type { EventSink } from '../base/events.ts';
import type { Host } from '../base/host.ts';
import { readShell, shellProgram } from '../base/shell/shell-file.ts';
import { sshHost } from '../base/ssh/host.ts';
import { wallClock } from '../base/time/wall-clock.ts';
import { targetOf } from '../bringup/node/reach.ts';
import { type Ended, headRecordIn, type LaptopRecord, readCluster } from '../state/cluster-record.ts';
import { turnedOff } from '../state/ended.ts';
import { stateErrors } from '../state/errors.ts';
import { knownHosts } from '../state/known-hosts.ts';
import { type GivenFile, loadSpec } from '../state/load-spec.ts';
import { bootScript, mantadPrelude, startText } from '../state/mantad/boot-entry.ts';
import type { Serving } from '../state/serving.ts';
import { folderOnHead, reachedFrom, type StateFolder } from '../state/state-folder.ts';
import { endedInCloud } from './cloud-ended.ts';
import { clientErrors } from './errors.ts';
import { clientEvents } from './events.ts';
import { lineTo } from './line.ts';
import { tellSkew } from './skew.ts';
import type { Endpoint } from './target.ts';

const finding = readShell(new URL('./find-mantad.sh', import.meta.url));

/** The line to mantad on the head of a cluster of other machines: through SSH, to a socket in the cluster's folder. */
export class RemoteLine {
  readonly #folder: StateFolder;
  readonly #host: Host;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #events: EventSink;
  #place: Promise<Endpoint> | undefined;

  constructor(
    folder: StateFolder,
    record: Pick<LaptopRecord, 'name' | 'config'>,
    env: Readonly<Record<string, string | undefined>>,
    events: EventSink,
    given?: GivenFile,
  ) {
    this.#folder = folder;
    this.#env = env;
    this.#events = events;
    const { head } = knownHosts(loadSpec(record, given), folder);
    if (head === undefined) throw stateErrors.NotRunning({ name: folder.name });
    this.#host = sshHost(targetOf({ ...head, address: head.outside ?? head.address }, reachedFrom(folder)), {
      clock: wallClock,
    });
  }

  /** Where requests go. Asked again after a failure it opens the line again. */
  place(signal: AbortSignal): Promise<Endpoint> {
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

  async #open(signal: AbortSignal): Promise<Endpoint> {
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
      throw clientErrors.NotServed({ name: this.#folder.name, host: this.#host.name, isThere: found.isThere });
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
  const text = shellProgram(`${mantadPrelude}${finding}`, {
    folder: folderOnHead(cluster).path,
    boot_script: bootScript(cluster),
    start: startText(cluster),
  });
  const { stdout } = await host.sh(text, { signal });
  const json = stdout.slice(Math.max(0, stdout.indexOf('{')));
  const token = /^token (\S+)$/m.exec(stdout)?.[1];
  try {
    const { ended } = (/^ended$/m.test(stdout) && headRecordIn(json)) || {};
    if (ended !== undefined) return { ended };
    return { serving: JSON.parse(json) as Serving, token: token ?? '', startedNow: /^started$/m.test(stdout) };
  } catch {
    return { isThere: /^unserved$/m.test(stdout) };
  }
}
