import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { ChannelCredentials, ServiceError } from '@grpc/grpc-js';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import type { Duration } from '../../../base/time/clock.ts';
import { engineErrors } from '../../errors.ts';
import { rayErrors } from '../errors.ts';
import type { GcsTls } from './gcs-tls.ts';

export interface GcsOptions {
  /** `host:port` of the head's GCS, on loopback or through a tunnel unless `tls` is given. */
  readonly address: string;
  /** Ray's cluster token. Absent: Ray runs without authentication. */
  readonly token?: string;
  /**
   * Ray's certificates where it runs with `RAY_USE_TLS=1`. Asked again when it does not answer: it may have been started
   * again, or only now, and with others.
   */
  readonly tls?: (before: GcsTls | undefined) => GcsTls | undefined;
  /** @default 10 seconds */
  readonly timeout?: Duration;
}

/** Every state carries all nodes, dead ones included, so answers grow with the age of a cluster. */
const largestMessage = 512 << 20;
const channelOptions = {
  'grpc.max_receive_message_length': largestMessage,
  'grpc.max_send_message_length': largestMessage,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  // Ray's servers take pings no more often than this.
  'grpc.keepalive_time_ms': 300_000,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.enable_http_proxy': 0,
};

/** Questions about certificates while nothing answers. */
const lookEvery = 500;

/** Ray's control store over gRPC. Failures are told apart: not reachable, token not accepted, refused. */
export class GcsClient {
  readonly #address: string;
  readonly #look: (before: GcsTls | undefined) => GcsTls | undefined;
  readonly #metadata = new Metadata();
  readonly #timeout: Duration;
  #tls: GcsTls | undefined;
  #lookedAt = 0;
  /** Why it cannot be spoken to at all. */
  #obstacle: Error | undefined;
  #client: Client;

  constructor({ address, token, tls, timeout }: GcsOptions) {
    this.#address = address;
    this.#look = tls ?? (() => undefined);
    if (token !== undefined) this.#metadata.set('authorization', `Bearer ${token}`);
    this.#timeout = timeout ?? 10_000;
    this.#tls = this.#certificates();
    this.#client = this.#connect();
  }

  call<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    request: MessageInitShape<Input>,
    signal: AbortSignal,
  ): Promise<MessageShape<Output>> {
    signal.throwIfAborted();
    if (this.#obstacle !== undefined) this.#lookAgain();
    if (this.#obstacle !== undefined) return Promise.reject(this.#obstacle);
    const { promise, resolve, reject } = Promise.withResolvers<MessageShape<Output>>();
    const client = this.#client;
    const call = client.makeUnaryRequest(
      `/${method.parent.typeName}/${method.name}`,
      (message: MessageShape<Input>) => Buffer.from(toBinary(method.input, message)),
      (bytes: Buffer) => fromBinary(method.output, bytes),
      create(method.input, request),
      this.#metadata,
      { deadline: Date.now() + this.#timeout },
      (error, answer) => {
        signal.removeEventListener('abort', cancel);
        if (error?.code === status.DEADLINE_EXCEEDED) this.#replace(client);
        if (error?.code === status.DEADLINE_EXCEEDED || error?.code === status.UNAVAILABLE) this.#lookAgain();
        if (signal.aborted) reject(signal.reason as Error);
        else if (error) reject(readable(method.name, error, this.#timeout));
        else resolve(answer as MessageShape<Output>);
      },
    );
    const cancel = (): void => call.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    return promise;
  }

  close(): void {
    this.#client.close();
  }

  #connect(): Client {
    return new Client(this.#address, credentialsOf(this.#tls), channelOptions);
  }

  #certificates(): GcsTls | undefined {
    this.#lookedAt = performance.now();
    this.#obstacle = undefined;
    try {
      return this.#look(this.#tls);
    } catch (error) {
      this.#obstacle = error as Error;
      return undefined;
    }
  }

  #lookAgain(): void {
    if (performance.now() - this.#lookedAt < lookEvery) return;
    const found = this.#certificates();
    if (sameCertificates(found, this.#tls)) return;
    this.#tls = found;
    this.#replace(this.#client);
  }

  /** A connection whose other end vanished without a word looks whole until its next ping, minutes away. */
  #replace(client: Client): void {
    if (client !== this.#client) return;
    this.#client = this.#connect();
    client.close();
  }
}

const credentialsOf = (tls: GcsTls | undefined): ChannelCredentials =>
  tls === undefined
    ? credentials.createInsecure()
    : credentials.createSsl(Buffer.from(tls.ca), Buffer.from(tls.key), Buffer.from(tls.cert));

function sameCertificates(a: GcsTls | undefined, b: GcsTls | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (['ca', 'cert', 'key'] as const).every((part) => Buffer.compare(a[part], b[part]) === 0);
}

/** Of a connection that was replaced under a call all that gRPC says is that its channel was closed. */
const isLate = ({ code, details }: ServiceError): boolean =>
  code === status.DEADLINE_EXCEEDED || details === 'Channel closed before call started';

function readable(call: string, error: ServiceError, timeout: Duration): Error {
  const detail = isLate(error) ? `no response within ${timeout / 1_000} s` : error.details;
  switch (error.code) {
    case status.UNAVAILABLE:
    case status.DEADLINE_EXCEEDED:
    case status.CANCELLED:
      return engineErrors.Unreachable({ call, detail }, error);
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return rayErrors.NotAllowed({ call, detail }, error);
    default:
      return rayErrors.Refused({ call, detail }, error);
  }
}
