import { quoted } from './quote.ts';

interface RayCommand {
  /** Words after `ray`; what follows them is its own affair. */
  readonly path: readonly string[];
  /** Where Manta has a command of that name too: whether the word after it makes it Ray's. */
  readonly when?: (word: string) => boolean;
  /** What to do on a Manta cluster, where it is not to run the same words on the head. */
  readonly instead?: string;
}

/** Commands of current and earlier Ray versions that Manta leaves to Ray. */
const rayCommands: readonly RayCommand[] = [
  {
    path: ['start'],
    instead:
      "'manta up' starts Ray on every node; set options of 'ray start' in head_start_ray_commands and worker_start_ray_commands of the cluster file",
  },
  { path: ['stop'], instead: "'manta down' shuts down a cluster, 'manta up --restart-only' restarts its Ray" },
  ...[
    'memory',
    'timeline',
    'stack',
    'microbenchmark',
    'debug',
    'kill-actor',
    'global-gc',
    'globalgc',
    'local-dump',
    'cpp',
    'sanity-check',
    'check-open-ports',
    'symmetric-run',
    'get',
    'summary',
    'metrics',
    'enable-usage-stats',
    'stat',
  ].map((word) => ({ path: [word] })),
  // `manta list` lists clusters, `ray list` what is in one.
  {
    path: ['list'],
    when: (word) =>
      /^(?:actors|cluster[-_]events|jobs|nodes|objects|placement[-_]groups|runtime[-_]envs|tasks|workers)$/.test(word),
  },
  // The other way round `manta logs` takes a node, and `ray logs` the names of log files.
  { path: ['logs'], when: (word) => /^(?:cluster|actor|worker|job|task)$|[*?]|\.(?:log|out|err|txt)$/.test(word) },
  { path: ['disable-usage-stats'], instead: "'manta up --disable-usage-stats' starts a cluster that reports nothing" },
  { path: ['get-auth-token'], instead: "'manta env' prints your token for the cluster" },
  { path: ['kuberay-autoscaler'], instead: 'it runs in the head pod that KubeRay creates' },
  { path: ['install-nightly'], instead: 'install Ray with pip in setup_commands of the cluster file' },
  { path: ['project'], instead: 'Ray removed it; use a cluster file and a script instead' },
  { path: ['session'], instead: "Ray removed it; use 'manta job submit' to run commands" },
];

/** The command of Ray that these words begin with. */
export function rayCommandOf(words: readonly string[]): RayCommand | undefined {
  const spelled = words.map((word) => word.replaceAll('_', '-'));
  return rayCommands.find(
    ({ path, when }) =>
      path.every((word, index) => word === spelled[index]) &&
      (when === undefined || (words.length > path.length && when(words[path.length]!))),
  );
}

/** Words that lead to commands which belong to Ray. */
export const rayWords: readonly string[] = [...new Set(rayCommands.map(({ path }) => path[0] as string))];

/** What to do in place of a command that belongs to Ray, given everything that was typed after `ray`. */
export const insteadOf = (command: RayCommand, words: readonly string[]): string =>
  command.instead ?? `run it on the head: manta exec CLUSTER ${quoted(['ray', ...words].map(quoted).join(' '))}`;
