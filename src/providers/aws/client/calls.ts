import type { Clock } from '../../../base/time/clock.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import { CallBucket } from '../../call-bucket.ts';
import type { CloudClient } from '../../clouds.ts';
import { YoungInstances } from '../../young.ts';
import { type PreparedAws, readPrepared } from '../prepared.ts';
import { AwsClient } from './client.ts';

/** Ray's own default. */
const usualRegion = 'us-west-2';

/** What every part of the provider works with: one cluster, its way to AWS, and what this process knows of its launches. */
export class AwsCalls {
  readonly client: CloudClient;
  readonly clock: Clock;
  readonly young: YoungInstances;
  readonly #bucket: CallBucket;
  #open: { readonly key: string; readonly aws: AwsClient } | undefined;

  constructor(client: CloudClient, clock: Clock) {
    this.client = client;
    this.clock = clock;
    this.young = new YoungInstances(clock);
    this.#bucket = new CallBucket({ clock });
  }

  /** Of the file as it is now. */
  get region(): string {
    const { region } = this.client.spec().provider.config;
    return isText(region) ? region : usualRegion;
  }

  /** The clients for the file as it is now. */
  get aws(): AwsClient {
    const { region } = this;
    const { config } = this.client.spec().provider;
    const identity = this.client.identity();
    const given = mapOf(config.aws_credentials);
    const key = JSON.stringify([region, identity, given]);
    if (this.#open?.key !== key) {
      this.#open?.aws.close();
      const aws = new AwsClient({ region, identity, given, clock: this.clock, bucket: this.#bucket });
      this.#open = { key, aws };
    }
    return this.#open.aws;
  }

  get prepared(): PreparedAws | undefined {
    return readPrepared(this.client.prepared?.());
  }
}
