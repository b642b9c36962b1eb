/**
 * Names of Services for pods and for the operator: `node dns.ts SERVER PKI ADDRESS...` answers on port 53 of the addresses
 * with what the API server's Services and EndpointSlices say, and with the names in this host's `/etc/hosts`.
 */
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, answer, readQuestion } from './dns-message.ts';
import { type EndpointSlice, namesOf, type Service } from './dns-names.ts';

const [server = '', pki = '', ...addresses] = process.argv.slice(2);
const read = (file: string): string => readFileSync(join(pki, file), 'utf8');
const identity = { ca: read('ca.crt'), cert: read('dns.crt'), key: read('dns.key') };

const services = new Map<string, Service>();
const slices = new Map<string, EndpointSlice>();
let names: ReadonlyMap<string, readonly string[]> = new Map();

interface Change<Kept> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Kept;
}

/** Keeps a map like what the server has. What was known stays when the server is away. */
async function follow<Kept extends Service | EndpointSlice>(path: string, kept: Map<string, Kept>): Promise<never> {
  for (;;) {
    await watch<Kept>(`${path}?watch=1`, kept).catch(() => undefined);
    await sleep(500);
  }
}

/** A watch without a version starts with what is there; what was known and is not among it is dropped at its end. */
async function watch<Kept extends Service | EndpointSlice>(path: string, kept: Map<string, Kept>): Promise<void> {
  const query = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const fresh = new Set<string>();
  let whole = false;
  await new Promise<void>((resolve, reject) => {
    const asked = request({ host: server, port: 443, path: path + query, ...identity }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
      const lines = createInterface({ input: response });
      lines.on('line', (line) => {
        const { type, object } = JSON.parse(line) as Change<Kept>;
        if (type === 'ERROR') return void asked.destroy();
        const id = `${object.metadata.namespace}/${object.metadata.name}`;
        if (type === 'BOOKMARK') {
          if (!whole) for (const known of kept.keys()) if (!fresh.has(known)) kept.delete(known);
          whole = true;
        } else if (type === 'DELETED') kept.delete(id);
        else kept.set(id, object);
        fresh.add(id);
        names = namesOf(services.values(), slices.values());
      });
      lines.on('close', resolve);
    });
    // A server that went silent is asked again.
    asked.setTimeout(90_000, () => asked.destroy());
    asked.on('error', reject);
    asked.end();
  });
}

function hostNames(): ReadonlyMap<string, readonly string[]> {
  const lines = readFileSync('/etc/hosts', 'utf8').split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/)).filter(([address = '']) => /^[\d.]+$/.test(address));
  return new Map(pairs.flatMap(([address = '', ...own]) => own.map((name) => [name, [address]] as const)));
}

function lookUp(name: string): Answer {
  const found = names.get(name) ?? hostNames().get(name);
  if (found !== undefined) return { found: true, addresses: found };
  return { found: [...names.keys()].some((known) => known.endsWith(`.${name}`)), addresses: [] };
}

for (const address of addresses) {
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const question = readQuestion(message);
    if (question !== undefined) socket.send(answer(message, question, lookUp(question.name)), from.port, from.address);
  });
  socket.bind(53, address);
}
await Promise.all([follow('/api/v1/services', services), follow('/apis/discovery.k8s.io/v1/endpointslices', slices)]);
