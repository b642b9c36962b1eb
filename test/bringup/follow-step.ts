/** Runs one step on a host and says how it came out; the laptop of a lab runs it. `node follow-step.ts HOST ID PROGRAM` */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { MantaError } from '../../src/base/errors.ts';
import { sshHost } from '../../src/base/ssh/host.ts';
import { runStep } from '../../src/bringup/steps/step.ts';

const [name = '', id = '', program = ''] = process.argv.slice(2);
const state = join(homedir(), 'state');
const host = sshHost({ name, address: name, pin: { file: join(state, name), alias: name }, control: join(state, 'c') });
const step = { folder: '.manta/nodes/lab/steps', id, program, shell: 'bash' } as const;
const say = (line: object): void => void process.stdout.write(`\n${JSON.stringify(line)}\n`);
try {
  const signal = new AbortController().signal;
  await host.connect({ signal, within: 60_000 });
  const result = await runStep(host, step, {
    signal,
    onOutput: (bytes) => void process.stdout.write(bytes),
    onReattach: (why) => void process.stderr.write(`${(why as MantaError).code}\n`),
  });
  say({ ...result });
} catch (error) {
  say(error instanceof MantaError ? { error: error.code, data: error.data } : { error: String(error) });
}
