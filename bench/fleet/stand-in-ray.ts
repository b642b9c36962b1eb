/** What mantad sees of a Ray with many nodes: its control store over real gRPC, and its dashboard. Nothing runs on it. */

import { createServer } from 'node:http';
import { type AddressInfo, createServer as createLineServer, type Socket } from 'node:net';
import { create, type DescMethodUnary, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import {
  AutoscalerStateService,
  type ClusterStateSchema,
  NodeStatus,
  type StateReplySchema,
} from '../../src/engines/ray/gen/autoscaler_pb.js';
import { InternalKVGcsService, NodeInfoGcsService, NodeLife } from '../../src/engines/ray/gen/gcs_pb.js';

type State = MessageInitShape<typeof ClusterStateSchema>;
type RayNode = NonNullable<State['nodes']>[number];
type Pending = NonNullable<State['pending']>[number];

const cpus = 8;
const gibibytes = 2 ** 30;

/** Nodes are busy, some of them by half, and do now this, now that. */
export class StandInRay {
  readonly #nodes: RayNode[];
  #pending: Pending[] = [];
  #turn = 0;
  /** How often it was asked for its state. */
  asked = 0;

  constructor(head: string, workers: readonly string[], type: string) {
    this.#nodes = [nodeOf(0, head, 'head', true), ...workers.map((id, index) => nodeOf(index + 1, id, type, false))];
  }

  /** Another demand, and other nodes that are busy: what a driver with many short tasks does to Ray's books. */
  change(): void {
    this.#turn++;
    this.#pending = [1, 2, 3].map((size) => ({
      request: { resources: { CPU: size } },
      count: BigInt(20 + ((this.#turn * size * 7) % 60)),
    }));
    for (let index = 0; index < 50; index++) {
      const at = 1 + ((this.#turn * 131 + index * 17) % (this.#nodes.length - 1));
      const node = this.#nodes[at]!;
      this.#nodes[at] = { ...node, available: { ...node.available, CPU: (this.#turn + index) % (cpus / 2 + 1) } };
    }
  }

  calm(): void {
    this.#pending = [];
  }

  state(): MessageInitShape<typeof StateReplySchema> {
    this.asked++;
    const version = BigInt(this.asked);
    return { state: { version, session: 'fleet', nodes: this.#nodes, pending: this.#pending } };
  }

  /** The node table; all raylets listen at one port of this machine. */
  table(rayletPort: number): Record<string, unknown> {
    const nodes = this.#nodes.map(({ id, instanceId, type }, index) => ({
      id,
      instanceId,
      type,
      address: '127.0.0.1',
      rayletPort,
      life: NodeLife.ALIVE,
      head: index === 0,
    }));
    return { nodes };
  }
}

function nodeOf(index: number, instanceId: string, type: string, head: boolean): RayNode {
  const address = `10.0.${index >> 8}.${index & 255}`;
  const total = {
    CPU: head ? 0 : cpus,
    memory: 32 * gibibytes,
    object_store_memory: 9 * gibibytes,
    [`node:${address}`]: 1,
    ...(head && { 'node:__internal_head__': 1 }),
  };
  const id = Buffer.alloc(28, 7);
  id.writeUInt32BE(index);
  return {
    id,
    instanceId,
    type,
    total,
    available: { ...total, CPU: head ? 0 : index % (cpus / 2) },
    status: NodeStatus.RUNNING,
    labels: { 'ray.io/node-id': id.toString('hex'), 'ray.io/node-group': type },
  };
}

export interface ServedRay {
  readonly gcsPort: number;
  readonly dashboardPort: number;
  close(): void;
}

export async function serveRay(ray: StandInRay): Promise<ServedRay> {
  const server = new Server();
  const lines = new Set<Socket>();
  const raylets = createLineServer((socket) => {
    lines.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => lines.delete(socket));
  });
  await new Promise<void>((resolve) => raylets.listen(0, '127.0.0.1', resolve));
  const rayletPort = (raylets.address() as AddressInfo).port;
  const answers: Readonly<Record<string, () => Record<string, unknown>>> = {
    GetClusterResourceState: () => ({ ...ray.state() }),
    GetAllNodeInfo: () => ray.table(rayletPort),
  };
  for (const { methods, typeName } of [AutoscalerStateService, InternalKVGcsService, NodeInfoGcsService]) {
    const unary = methods as readonly DescMethodUnary[];
    const definition = Object.fromEntries(
      unary.map((method) => [
        method.name,
        {
          path: `/${typeName}/${method.name}`,
          requestStream: false,
          responseStream: false,
          requestSerialize: (value: never) => Buffer.from(toBinary(method.input, value)),
          requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
          responseSerialize: (value: Record<string, unknown>) =>
            Buffer.from(toBinary(method.output, create(method.output, value))),
          responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
        },
      ]),
    );
    const handlers = Object.fromEntries(
      unary.map(({ name }) => [
        name,
        (_: unknown, answer: (error: null, value: object) => void) => answer(null, answers[name]?.() ?? {}),
      ]),
    );
    server.addService(definition as ServiceDefinition, handlers);
  }
  const gcsPort = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
  const dashboard = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(request.url === '/api/version' ? '{"ray_version": "2.60.0", "version": "4"}' : '[]');
  });
  await new Promise<void>((resolve) => dashboard.listen(0, '127.0.0.1', resolve));
  return {
    gcsPort,
    dashboardPort: (dashboard.address() as AddressInfo).port,
    close: () => {
      server.forceShutdown();
      dashboard.close();
      dashboard.closeAllConnections();
      raylets.close();
      for (const line of lines) line.destroy();
    },
  };
}
