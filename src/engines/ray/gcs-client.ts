import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { ServiceError } from '@grpc/grpc-js';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import type { Duration } from '../../base/clock.ts';
import { engineErrors } from '../errors.ts';
import { rayErrors } from './errors.ts';

export interface GcsOptions {
  /** `host:port` of the head's GCS, on loopback or through a tunnel: the connection itself is not encrypted. */
  readonly address: string;
  /** Ray's cluster token. Absent: Ray runs without authentication. */
  readonly token?: string;
  /** @default 10 seconds */
  readonly timeout?: Duration;
}

/** Every state carries all nodes, dead ones included, so answers grow with the age of a cluster. */
const largestAnswer = 512 << 20;

/** Ray's control store over gRPC. Failures are told apart: not reachable, token not accepted, refused. */
export class GcsClient {
  readonly #client: Client;
  readonly #metadata: Metadata;
  readonly #timeout: Duration;

  constructor(options: GcsOptions) {
    this.#client = new Client(options.address, credentials.createInsecure(), {
      'grpc.max_receive_message_length': largestAnswer,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2_000,
      'grpc.enable_http_proxy': 0,
    });
    this.#metadata = new Metadata();
    if (options.token !== undefined) this.#metadata.set('authorization', `Bearer ${options.token}`);
    this.#timeout = options.timeout ?? 10_000;
  }

  call<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    request: MessageInitShape<Input>,
    signal: AbortSignal,
  ): Promise<MessageShape<Output>> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<MessageShape<Output>>();
    const call = this.#client.makeUnaryRequest(
      `/${method.parent.typeName}/${method.name}`,
      (message: MessageShape<Input>) => Buffer.from(toBinary(method.input, message)),
      (bytes: Buffer) => fromBinary(method.output, bytes),
      create(method.input, request),
      this.#metadata,
      { deadline: Date.now() + this.#timeout },
      (error, answer) => {
        signal.removeEventListener('abort', cancel);
        if (signal.aborted) reject(signal.reason as Error);
        else if (error) reject(readable(method.name, error));
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
}

function readable(call: string, error: ServiceError): Error {
  const detail = error.details;
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
