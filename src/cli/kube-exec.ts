/**
 * A command in a pod, with the streams of this process: what `ssh` is to a machine. Behind the order may stand a host, which
 * it knows already, and words of a command, which is how rsync calls it. Exits with the command's code; 255 where there is none.
 */
import { messageOf } from '../base/errors.ts';
import { KubeClient } from '../base/kube/client.ts';
import { openKubeAccess } from '../base/kube/config.ts';
import { execInPod, type PodExec } from '../base/kube/exec.ts';
import { decodeExec } from '../base/kube/exec-words.ts';
import { forwardToPod } from '../base/kube/port-forward.ts';
import { wallClock } from '../base/time/wall-clock.ts';

const [, , word = '', , ...more] = process.argv;
const order = decodeExec(word);
const ending = new AbortController();
for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const)
  process.on(name, () => ending.abort(new Error(`ended by ${name}`)));

const isRaw = order.tty === true && process.stdin.isTTY;

async function run(): Promise<number> {
  const { context, pod, tty = false, forwards = [] } = order;
  const client = new KubeClient(openKubeAccess({ env: process.env, context, namespace: pod.namespace }), wallClock);
  const { signal } = ending;
  for (const { localPort, remotePort } of forwards) {
    const here = { host: '127.0.0.1', port: localPort };
    const made = await forwardToPod({
      client,
      clock: wallClock,
      pod: () => Promise.resolve(pod),
      port: remotePort,
      here,
      signal,
    });
    made?.server.unref();
  }
  const command = [...order.command, ...more];
  const ran = await execInPod(client, { ...pod, command, stdin: true, tty, signal });
  if (isRaw) followTerminal(ran);
  process.stdin.pipe(ran.stdin);
  const written = [copy(ran.stdout, process.stdout), copy(ran.stderr, process.stderr)];
  const code = await ran.ended;
  await Promise.all(written);
  return code;
}

/** Until all of it is handed on. A reader that has left, such as `head`, ends this program as it ends others. */
function copy(from: NodeJS.ReadableStream, to: NodeJS.WriteStream): Promise<void> {
  to.on('error', () => ending.abort(new Error('nobody reads the output')));
  from.pipe(to, { end: false });
  return new Promise((resolve) => from.once('end', () => to.write('', () => resolve())));
}

function followTerminal(ran: PodExec): void {
  const tell = (): void => ran.resize({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 });
  process.stdin.setRawMode(true);
  process.stdout.on('resize', tell);
  tell();
}

let code = 255;
try {
  code = await run();
} catch (error) {
  if (!ending.signal.aborted) process.stderr.write(`${messageOf(error)}\n`);
} finally {
  if (isRaw) process.stdin.setRawMode(false);
}
process.exit(code);
