// needs: strace
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** What a program asked of a disk, in the order in which the kernel was done with it. Paths are absolute. */
export type DiskStep =
  | { readonly kind: 'make' | 'truncate' | 'make-folder' | 'remove' | 'sync'; readonly path: string }
  /** The whole disk. */
  | { readonly kind: 'sync-all' }
  | { readonly kind: 'write'; readonly path: string; readonly bytes: Buffer }
  | { readonly kind: 'rename' | 'link'; readonly from: string; readonly to: string }
  /** A line of the program itself. */
  | { readonly kind: 'said'; readonly line: string };

/** Begins the lines that a recorded program writes to its standard output for the recording. */
export const saying = 'power-cut: ';

const calls =
  'openat,open,creat,write,pwrite64,writev,pwritev,fsync,fdatasync,syncfs,sync,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,ftruncate,truncate,copy_file_range,sendfile,chdir,fchdir';

/** Runs a program, with all that it starts, and returns what it asked of the disk below `root`. */
export function record(words: readonly string[], root: string, traceFile: string): DiskStep[] {
  const { status, stderr, error } = spawnSync(
    'strace',
    ['-f', '-y', '-xx', '-s', '10000000', '-e', `trace=${calls}`, '-o', traceFile, ...words],
    { encoding: 'utf8', timeout: 60_000 },
  );
  if (error && 'code' in error && error.code === 'ENOENT')
    throw new Error("strace is missing: run 'apt-get install strace'", { cause: error });
  if (error) throw new Error(`strace of ${words.join(' ')} failed: ${error.message}`, { cause: error });
  if (status !== 0) throw new Error(`${words.join(' ')} exited with ${status}\n${stderr}`);
  return stepsOf(readFileSync(traceFile, 'latin1'), root);
}

function stepsOf(trace: string, root: string): DiskStep[] {
  const begun = new Map<string, string>();
  const places = new Map<string, string>();
  const steps: DiskStep[] = [];
  for (const line of trace.split('\n')) {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest.endsWith(' <unfinished ...>')) {
      begun.set(pid, rest.slice(0, -' <unfinished ...>'.length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const call = /^(\w+)\((.*)\) += (.*)$/.exec(resumed ? `${begun.get(pid) ?? ''}${resumed[1]}` : rest);
    if (!call || call[3]?.startsWith('-1')) continue;
    const [, name = '', args = '', answer = ''] = call;
    const here = /AT_FDCWD<([^>]*)>/.exec(args)?.[1];
    // Calls without it are relative to the folder that the program was last seen in.
    if (here !== undefined) places.set(pid, decoded(here).toString());
    if (name === 'chdir' || name === 'fchdir') {
      const to = decoded(/["<]([^">]*)[">]/.exec(args)?.[1] ?? '').toString();
      places.set(pid, resolve(places.get(pid) ?? '/', to));
      continue;
    }
    steps.push(
      ...stepOf(name, args, answer, places.get(pid) ?? '/').filter(
        (step) => !('path' in step || 'to' in step) || isBelow(step, root),
      ),
    );
  }
  return steps;
}

function isBelow(step: Extract<DiskStep, { path: string } | { to: string }>, root: string): boolean {
  const path = 'to' in step ? step.to : step.path;
  return path === root || path.startsWith(`${root}/`);
}

function stepOf(name: string, args: string, answer: string, here: string): DiskStep[] {
  const texts = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map((match) => decoded(match[1] ?? ''));
  const folders = [...args.matchAll(/(?:AT_FDCWD|\b\d+)<([^>]*)>/g)].map((match) => decoded(match[1] ?? '').toString());
  const text = (index: number): string => texts[index]?.toString() ?? '';
  const plain = (index: number): string => resolve(here, text(index));
  const at = (index: number): string => resolve(folders[index] ?? '/', text(index));
  const opened = folders[0] ?? '';
  switch (name) {
    case 'openat': {
      const path = decoded(/<([^>]*)>/.exec(answer)?.[1] ?? '').toString();
      if (args.includes('O_TRUNC')) return [{ kind: 'truncate', path }];
      return args.includes('O_CREAT') ? [{ kind: 'make', path }] : [];
    }
    case 'write':
      if (args.startsWith('1<') && text(0).startsWith(saying))
        return [{ kind: 'said', line: text(0).slice(saying.length).trim() }];
      return [{ kind: 'write', path: opened, bytes: (texts[0] ?? Buffer.alloc(0)).subarray(0, Number(answer)) }];
    case 'fsync':
    case 'fdatasync':
      return [{ kind: 'sync', path: opened }];
    case 'syncfs':
    case 'sync':
      return [{ kind: 'sync-all' }];
    case 'rename':
      return [{ kind: 'rename', from: plain(0), to: plain(1) }];
    case 'renameat':
    case 'renameat2':
      return [{ kind: 'rename', from: at(0), to: at(1) }];
    case 'link':
      return [{ kind: 'link', from: plain(0), to: plain(1) }];
    case 'unlink':
    case 'rmdir':
      return [{ kind: 'remove', path: plain(0) }];
    case 'unlinkat':
      return [{ kind: 'remove', path: at(0) }];
    case 'mkdir':
      return [{ kind: 'make-folder', path: plain(0) }];
    case 'mkdirat':
      return [{ kind: 'make-folder', path: at(0) }];
  }
  // Whatever else changes files is not in the model: one below the root must not pass unseen.
  return [opened, ...texts.map(String)].map((path) => ({ kind: 'unknown', path, name }) as unknown as DiskStep);
}

const decoded = (hex: string): Buffer => Buffer.from(hex.replaceAll('\\x', ''), 'hex');
