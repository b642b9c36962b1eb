import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';

/**
 * Reads the numbers of live sessions (`+n`, `-n`) until its input ends. When it ends without the word `end`, the agent
 * died: every session, and whatever carries the agent's mark, is killed. It needs no poll, no Node and no head.
 */
const script = `
trap '' HUP INT TERM
sessions=' '
while read -r line; do
  case $line in
    +*) sessions="$sessions\${line#+} " ;;
    -*) one=\${line#-}; sessions="\${sessions%% $one *} \${sessions#* $one }" ;;
    end) exit 0 ;;
  esac
done
marked() {
  if [ -d /proc/self ]; then
    grep -ls ":$1:" /proc/[0-9]*/environ | sed 's|^/proc/||; s|/environ$||'
  else
    ps -A -E -ww -o pid=,command= | grep "MANTA_MARK=[^ ]*:$1:" | sed 's/^ *//; s/ .*//'
  fi
}
for one in $sessions; do kill -9 -"$one"; done
tries=0
while [ $tries -lt 100 ]; do
  pids=$(marked "$1")
  [ -z "$pids" ] && exit 0
  kill -9 $pids
  tries=$((tries + 1))
  sleep 0.05
done
`;

/** Ends the agent's work when the agent dies, however it dies. */
export class Lifeline {
  readonly #word: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #sessions = new Set<number>();
  #watcher: ChildProcess;
  #ended = false;

  /** `word` is in the mark of everything that the agent starts, and in nothing else. */
  constructor(word: string, env: NodeJS.ProcessEnv) {
    this.#word = word;
    this.#env = env;
    this.#watcher = this.#start();
  }

  add(session: number): void {
    this.#sessions.add(session);
    this.#watcher.stdin?.write(`+${session}\n`);
  }

  remove(session: number): void {
    this.#sessions.delete(session);
    this.#watcher.stdin?.write(`-${session}\n`);
  }

  /** The agent ends in good order, with nothing left to kill. */
  end(): void {
    this.#ended = true;
    this.#watcher.stdin?.end('end\n');
  }

  #start(): ChildProcess {
    const args = ['-c', script, 'manta-lifeline', this.#word];
    const watcher = spawn('/bin/sh', args, {
      env: this.#env,
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    watcher.stdin?.on('error', () => {});
    watcher.on('error', () => {});
    for (const session of this.#sessions) watcher.stdin?.write(`+${session}\n`);
    // A job that kills every shell it may kill takes the watcher with it: another one takes its place.
    watcher.on('close', () => {
      if (!this.#ended)
        setTimeout(() => {
          if (!this.#ended) this.#watcher = this.#start();
        }, 50);
    });
    return watcher;
  }
}
