import type { ClusterBed } from './cluster-bed.ts';

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

export interface TerminalStep {
  /** Regular expression that what was shown since the last step must come to match, without the terminal's own signs; `$` is its end. */
  readonly expect: string;
  readonly send?: string;
  readonly size?: TerminalSize;
}

/** Drives a program at a terminal of its own: Python has what that takes, and Node has not. */
const driver = `
import codecs, fcntl, json, os, pty, re, select, struct, sys, termios, time
order = json.load(sys.stdin)
def resize(fd, size):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", size["rows"], size["columns"], 0, 0))
pid, fd = pty.fork()
if pid == 0:
    os.execvp(order["command"][0], order["command"])
resize(fd, order["size"])
decoder = codecs.getincrementaldecoder("utf-8")("replace")
shown, since, until = "", "", time.monotonic() + 120
def read():
    global shown, since
    if time.monotonic() > until: return False
    if not select.select([fd], [], [], 1)[0]: return True
    try: piece = os.read(fd, 65536)
    except OSError: return False
    if not piece: return False
    text = decoder.decode(piece)
    shown += text; since += text
    return True
for step in order["steps"]:
    while not re.search(step["expect"], re.sub(r"\\x1b\\[[?0-9;]*[a-zA-Z]|\\r", "", since)):
        if not read():
            print(json.dumps({"code": None, "shown": shown, "waiting": step["expect"]})); sys.exit()
    since = ""
    if "size" in step: resize(fd, step["size"]); os.write(fd, b"\\r")
    if "send" in step: os.write(fd, step["send"].encode())
while read(): pass
print(json.dumps({"code": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), "shown": shown}))
`;

/** Runs a program of the laptop at a terminal. The exit code is absent where a step was waited for in vain. */
export async function runInTerminal(
  bed: ClusterBed,
  command: readonly string[],
  size: TerminalSize,
  steps: readonly TerminalStep[],
): Promise<{ readonly code: number | null; readonly shown: string; readonly waiting?: string }> {
  const said = await bed.laptop.must(['python3', '-c', driver], {
    user: bed.user,
    input: JSON.stringify({ command, size, steps }),
    env: { TERM: 'xterm' },
    within: 300_000,
  });
  return JSON.parse(said) as { code: number | null; shown: string };
}
