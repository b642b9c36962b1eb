/** Speaks Ray's jobs API to whoever serves it. Copied to a head and run there, so it stands alone. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

interface Server {
  readonly name: string;
  readonly url: string;
  readonly token: string;
}

interface Job {
  readonly submission_id: string | null;
  readonly status: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const pollEvery = 20;
const overAfter = 300_000;

function ask(
  { url, token }: Server,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, agent, headers, timeout: 60_000 }, (answer) => {
      answer.setEncoding('utf8');
      let text = '';
      answer.on('data', (piece: string) => (text += piece));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function submit(server: Server, submission_id: string, entrypoint: string): Promise<void> {
  const { status, text } = await ask(server, 'POST', '/api/jobs/', { submission_id, entrypoint });
  if (status !== 200) throw new Error(`${server.name} answered ${status}: ${text.slice(0, 500)}`);
}

async function statusOf(server: Server, id: string): Promise<string> {
  const { status, text } = await ask(server, 'GET', `/api/jobs/${id}`);
  return status === 200 ? (JSON.parse(text) as Job).status : 'UNKNOWN';
}

/** Milliseconds from the submit until the job is seen to run, of each server in turns. */
async function timeStarts(servers: readonly Server[], rounds: number): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++)
    for (const server of servers) {
      const id = `start-${server.name}-${round}`;
      const began = performance.now();
      await submit(server, id, 'sleep 2');
      let state = 'PENDING';
      while ((state === 'PENDING' || state === 'UNKNOWN') && performance.now() - began < overAfter) {
        await sleep(pollEvery);
        state = await statusOf(server, id);
      }
      const took = performance.now() - began;
      if (state !== 'RUNNING') throw new Error(`${id} is ${state}`);
      while (state !== 'SUCCEEDED' && performance.now() - began < overAfter) {
        await sleep(200);
        state = await statusOf(server, id);
      }
      // The first round warms up and counts for nobody.
      if (round > 0) (times[server.name] ??= []).push(took);
    }
  return times;
}

/** How many of so many submissions were taken. */
async function submitMany(server: Server, count: number, entrypoint: string): Promise<number> {
  let [next, taken] = [0, 0];
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++)
      await submit(server, `many-${index}`, entrypoint).then(
        () => taken++,
        () => {},
      );
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return taken;
}

async function countStates(server: Server): Promise<Record<string, number>> {
  const { status, text } = await ask(server, 'GET', '/api/jobs/');
  if (status !== 200) throw new Error(`${server.name} answered ${status}: ${text.slice(0, 500)}`);
  const counts: Record<string, number> = {};
  for (const job of JSON.parse(text) as Job[])
    if (job.submission_id?.startsWith('many-')) counts[job.status] = (counts[job.status] ?? 0) + 1;
  return counts;
}

const [verb, given = '{}'] = process.argv.slice(2);
const { servers, count, entrypoint } = JSON.parse(given) as { servers: Server[]; count: number; entrypoint: string };
const answers: Record<string, () => Promise<unknown>> = {
  starts: () => timeStarts(servers, count),
  submit: () => submitMany(servers[0]!, count, entrypoint),
  states: () => countStates(servers[0]!),
};
process.stdout.write(`${JSON.stringify(await answers[verb ?? '']!())}\n`);
agent.destroy();
