// needs: hosts

import { fileURLToPath } from 'node:url';
import { type ExecResult, type Lab, type LabHost, openLab } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';

const manta = fileURLToPath(new URL('../../bin/manta', import.meta.url));

/** A laptop, a head and a worker that carry what `manta up` leaves on them; no Ray runs there. */
export interface Bed {
  readonly lab: Lab;
  readonly laptop: LabHost;
  readonly head: LabHost;
  readonly worker: LabHost;
  /** Runs the real program on the laptop, in the home that holds `cluster.yaml`. */
  manta(words: readonly string[], options?: { readonly input?: string | Uint8Array }): Promise<ExecResult>;
  /** Runs it in a terminal of 24 lines, which does one thing after another once the output so far holds a text. */
  inTerminal(
    words: readonly string[],
    script: readonly Act[],
  ): Promise<{ readonly code: number; readonly seen: string }>;
  /** Resolves when no process of the host has these words, or throws after a deadline. */
  gone(host: LabHost, words: string): Promise<void>;
  /** Resolves when one has. */
  runs(host: LabHost, words: string): Promise<void>;
  close(): Promise<void>;
}

export type Act =
  | { readonly after: string; readonly type: string }
  | { readonly after: string; readonly size: readonly [rows: number, columns: number] }
  | { readonly after: string; readonly hangUp: true };

/** Leaves a tmux or screen by its prefix and d. */
export const detach = (after: string, prefix: string): readonly Act[] => [
  { after, type: prefix },
  { after: '', type: 'd' },
];

const mantaWords = (words: readonly string[]): string[] => ['node', manta, ...words];

export interface BedOptions {
  /** More of the cluster file. */
  readonly more?: string;
  /** The head runs its commands in a container of this name. */
  readonly container?: string;
}

export async function openBed({ more = '', container }: BedOptions = {}): Promise<Bed> {
  const lab = await openLab({ hosts: [{ podman: container !== undefined }, {}] });
  const { laptop } = lab;
  const [head, worker] = lab.hosts as [LabHost, LabHost];
  const file = `cluster_name: c1
provider: {type: local, head_ip: ${head.address}, worker_ips: [${worker.address}]}
auth: {ssh_user: root, ssh_private_key: ~/.ssh/id_ed25519}
${container === undefined ? '' : `docker: {image: ${lab.registry!.images.base}, container_name: ${container}}\n`}${more}`;
  await laptop.must(['tee', 'cluster.yaml'], { input: file });
  for (const host of [head, worker]) {
    await host.must(['mkdir', '-p', '.manta/nodes/c1']);
    await host.must(['tee', '.manta/nodes/c1/env.sh'], { input: 'export RAY_AUTH_MODE=token\n' });
  }
  if (container !== undefined) {
    const mounts = '-v /tmp/ray_tmp_mount/c1/opt/project:/opt/project';
    await head.must('mkdir -p /tmp/ray_tmp_mount/c1/opt/project');
    await head.must(
      `docker run -d --name ${container} --network host ${mounts} ${lab.registry!.images.base} sleep infinity`,
    );
    await head.must(
      `docker exec ${container} sh -c 'mkdir -p ~/.manta/nodes/c1; echo export RAY_AUTH_MODE=inside > ~/.manta/nodes/c1/env.sh'`,
    );
  }
  const waitFor = async (host: LabHost, words: string, wanted: boolean): Promise<void> => {
    await until(
      `'${words}' ${wanted ? 'runs' : 'is gone'} on ${host.name}`,
      () => host.processes().some(({ command }) => command.join(' ').includes(words)) === wanted,
    );
  };
  return {
    lab,
    laptop,
    head,
    worker,
    manta: (words, options = {}) => laptop.exec(mantaWords(words), options),
    async inTerminal(words, script) {
      const program = ['python3', '-c', terminal, JSON.stringify(script), ...mantaWords(words)];
      const { stdout, stderr, code } = await laptop.exec(program, { env: { TERM: 'xterm', LANG: '' } });
      if (code !== 0) throw new Error(`the terminal failed: ${stderr}`);
      const end = stdout.lastIndexOf('\n');
      return { seen: stdout.slice(0, end), code: Number(stdout.slice(end + 1)) };
    },
    gone: (host, words) => waitFor(host, words, false),
    runs: (host, words) => waitFor(host, words, true),
    close: () => lab.close(),
  };
}

/** Plays a script in a terminal of its own, no faster than a person, or tmux takes keys for pasted ones; prints what was seen, then the exit code on the last line. */
const terminal = `
import fcntl, json, os, pty, select, struct, sys, termios, time
script = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[2], sys.argv[2:])
def size(rows, columns): fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
size(24, 80)
seen, since, deadline = b'', 0, time.time() + 60
while fd is not None:
    if time.time() > deadline: sys.exit('after 60 s it is at %r with %r' % (script, seen))
    if select.select([fd], [], [], 0.05)[0]:
        try: data = os.read(fd, 65536)
        except OSError: break
        if not data: break
        seen += data
    if script and script[0]['after'].encode() in seen[since:]:
        act, since = script.pop(0), len(seen)
        time.sleep(0.1)
        if 'type' in act: os.write(fd, act['type'].encode())
        elif 'size' in act: size(*act['size'])
        else: os.close(fd); fd = None
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(seen + b'\\n' + str(os.waitstatus_to_exitcode(status)).encode())
`;
