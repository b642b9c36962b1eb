/**
 * Makes `media/terminal.svg`, the picture in the README: runs the commands of a first session on a cluster of this
 * machine and draws what they print. `node scripts/recording.ts` writes it; a test finds it out of date.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
export const recordingFile = join(root, 'media/terminal.svg');

/** The same on every machine: nothing follows from how many processors it has. */
const clusterFile = `cluster_name: demo
provider: {type: process}
max_workers: 3
head_node_type: head
available_node_types:
  head: {resources: {CPU: 0}, node_config: {}}
  worker: {resources: {CPU: 1}, max_workers: 3, node_config: {}}
`;

interface Step {
  readonly command: string;
  readonly output: string;
}

interface Line {
  readonly command: string;
  /** What the reader waits for before the next command: this many jobs run. */
  readonly running?: number;
}

const session: readonly Line[] = [
  { command: 'manta up cluster.yaml' },
  {
    command:
      'for i in 1 2 3 4; do manta job submit -q --no-wait --submission-id train-$i --entrypoint-num-cpus 1 -- sleep 60; done',
    running: 3,
  },
  { command: 'manta status' },
  { command: 'manta why demand' },
  { command: 'manta job list' },
  { command: 'manta down -y' },
];

/** Runs the session in a folder of its own, and leaves nothing behind. */
export async function record(): Promise<readonly Step[]> {
  const home = mkdtempSync(join(tmpdir(), 'manta-recording-'));
  const tools = join(home, 'tools');
  mkdirSync(tools);
  symlinkSync(join(root, 'bin/manta'), join(tools, 'manta'));
  writeFileSync(join(home, 'cluster.yaml'), clusterFile);
  const path = [tools, dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
  const env = { PATH: path, HOME: home, NO_COLOR: '1' };
  const shell = (command: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { cwd: home, env, encoding: 'utf8', timeout: 60_000 } as const;
      const child = execFile('/bin/sh', ['-c', `{ ${command}; } 2>&1`], options, (error, stdout) =>
        error === null ? resolve(stdout) : reject(new Error(`${command}: ${stdout}`, { cause: error })),
      );
      child.stdin?.end();
    });
  const steps: Step[] = [];
  try {
    for (const { command, running = 0 } of session) {
      steps.push({ command, output: withoutPaths(await shell(command), home) });
      if (running > 0) await untilRunning(running, shell);
    }
  } finally {
    await shell('manta down -y || true');
    rmSync(home, { recursive: true, force: true });
  }
  return steps;
}

async function untilRunning(count: number, shell: (command: string) => Promise<string>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (((await shell('manta job list --json')).match(/"running"/g) ?? []).length < count) {
    if (Date.now() > deadline) throw new Error(`${count} jobs do not run`);
    await sleep(200);
  }
}

/** Paths of this machine are those of nobody else. */
function withoutPaths(output: string, home: string): string {
  return output.replaceAll(/\S+\/node \S*\/manta /g, 'manta ').replaceAll(home, '~');
}

/** What may differ between two recordings: times, ids, and a port that was taken. */
export function masked(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?/g, 'TIME')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/\b(?:\d+(?:\.\d+)?(?:ms|s|m))+\b/g, 'SPAN')
    .replaceAll(/\bi?[0-9a-f]{8,}\b/g, 'ID')
    .replaceAll(/ +/g, ' ');
}

const columns = 122;
const lineHeight = 17;
const charWidth = 7.25;
const margin = 16;

/** A terminal as an SVG: each command appears with its output a moment after the one before. */
export function draw(steps: readonly Step[]): string {
  let y = margin + 34;
  let at = 0.3;
  const groups = steps.map(({ command, output }) => {
    const rows = [
      ...wrapped(`$ ${command}`).map((text) => ({ text, kind: 'command' })),
      ...output
        .trimEnd()
        .split('\n')
        .flatMap(wrapped)
        .map((text) => ({ text, kind: 'output' })),
    ];
    const lines = rows.map(({ text, kind }) => {
      y += lineHeight;
      return `<text class="${kind}" x="${margin}" y="${y}">${escaped(text)}</text>`;
    });
    y += lineHeight / 2;
    const group = `<g style="animation-delay:${at.toFixed(1)}s">\n${lines.join('\n')}\n</g>`;
    at += 1.5;
    return group;
  });
  const [width, height] = [Math.ceil(columns * charWidth) + 2 * margin, Math.ceil(y + margin)];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>A session with Manta: start a cluster, submit four jobs, see it scale, ask why one waits, shut it down</title>
<style>
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #c9d1d9 }
.command { fill: #7ee787; font-weight: 600 }
g { opacity: 0; animation: appear 0.2s forwards }
@keyframes appear { to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { g { opacity: 1; animation: none } }
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<circle cx="20" cy="20" r="6" fill="#ff5f56"/><circle cx="40" cy="20" r="6" fill="#ffbd2e"/><circle cx="60" cy="20" r="6" fill="#27c93f"/>
${groups.join('\n')}
</svg>
`;
}

function wrapped(line: string): string[] {
  if (line.length <= columns) return [line];
  const cut = line.lastIndexOf(' ', columns - 2);
  return [`${line.slice(0, cut)} \\`, ...wrapped(`    ${line.slice(cut + 1)}`)];
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

if (import.meta.main) {
  mkdirSync(dirname(recordingFile), { recursive: true });
  writeFileSync(recordingFile, draw(await record()));
  process.stdout.write(`written: ${recordingFile}\n`);
}
