import type { Clock, Duration } from '../../../base/time/clock.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import { CallBucket } from '../../call-bucket.ts';
import type { CloudClient } from '../../clouds.ts';
import { YoungInstances } from '../../young.ts';
import { preparationErrors } from '../errors.ts';
import { type PreparedGoogle, readPrepared } from '../prepared.ts';
import { GoogleClient } from './client.ts';
import { projectInEnvironment } from './project.ts';

/** How long a launch waits for its operation. What fails later is a late refusal. */
const usualWait: Duration = 30_000;

/** Google counts calls by the minute, 1500 of them. */
const burst = 300;

/** What every part of the provider works with: one cluster, its way to Google, and what this process knows of its launches. */
export class GoogleCalls {
  readonly client: CloudClient;
  readonly clock: Clock;
  readonly young: YoungInstances;
  readonly launchWait: Duration;
  readonly #bucket: CallBucket;
  #open: { readonly key: string; readonly google: GoogleClient } | undefined;

  constructor(client: CloudClient, clock: Clock, launchWait: Duration = usualWait) {
    this.client = client;
    this.clock = clock;
    this.launchWait = launchWait;
    this.young = new YoungInstances(clock);
    this.#bucket = new CallBucket({ clock, burst });
  }

  /** The client for the file as it is now. */
  get google(): GoogleClient {
    const given = mapOf(this.client.spec().provider.config.gcp_credentials);
    const identity = this.client.identity();
    const key = JSON.stringify([identity, given]);
    if (this.#open?.key !== key) {
      this.#open?.google.close();
      this.#open = { key, google: new GoogleClient({ identity, given, clock: this.clock, bucket: this.#bucket }) };
    }
    return this.#open.google;
  }

  get prepared(): PreparedGoogle | undefined {
    return readPrepared(this.client.prepared?.());
  }

  /** That of the file, or the one that preparing found. */
  get project(): string {
    const { project_id: given } = this.client.spec().provider.config;
    const project = this.prepared?.project ?? (isText(given) ? given : this.#projectOfLogin());
    if (project === undefined) throw preparationErrors.NoProject({});
    return project;
  }

  /** As far as the environment tells: nobody has prepared anything here. */
  #projectOfLogin(): string | undefined {
    const { gcp_credentials: credentials } = this.client.spec().provider.config;
    return projectInEnvironment(this.client.identity(), mapOf(credentials));
  }

  get typeNames(): readonly string[] {
    return this.client.spec().nodeTypes.map(({ name }) => name);
  }
}
