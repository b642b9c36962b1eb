import { globSync, lstatSync, readFileSync } from 'node:fs';

interface Package {
  readonly version: string;
  readonly depends: readonly (readonly string[])[];
}

/** Installed packages by name, and by what they provide. */
function installedPackages(): ReadonlyMap<string, readonly [name: string, Package]> {
  const known = new Map<string, readonly [string, Package]>();
  for (const paragraph of readFileSync('/var/lib/dpkg/status', 'utf8').split('\n\n')) {
    const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '';
    if (!field('Status').endsWith(' installed')) continue;
    const names = (text: string): string[] => text.split(',').map(bareName).filter(Boolean);
    const depends = [field('Pre-Depends'), field('Depends')]
      .flatMap((text) => text.split(','))
      .map((choice) => choice.split('|').map(bareName).filter(Boolean))
      .filter((choice) => choice.length > 0);
    const entry = [field('Package'), { version: field('Version'), depends }] as const;
    for (const provided of names(field('Provides'))) if (!known.has(provided)) known.set(provided, entry);
    known.set(entry[0], entry);
  }
  return known;
}

const bareName = (text: string): string => text.trim().split(/[\s:(]/)[0]!;

/** These packages and all they depend on, `name=version`, sorted. Throws where one is not installed. */
export function withDependencies(wanted: readonly string[]): readonly string[] {
  const known = installedPackages();
  const found = new Map<string, Package>();
  const open = [...wanted];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const entry = known.get(name);
    if (entry === undefined) throw new Error(`the image needs the package '${name}', which is not installed`);
    if (found.has(entry[0])) continue;
    found.set(...entry);
    for (const choice of entry[1].depends) open.push(choice.find((each) => known.has(each)) ?? choice[0]!);
  }
  return [...found].map(([name, { version }]) => `${name}=${version}`).sort();
}

const leftOut =
  /^\/usr\/share\/(doc|man|info|locale|lintian|bug|bash-completion)\/|^\/etc\/(passwd|group|shadow|hosts|hostname)/;

/** What the packages brought, as paths of this machine without the leading slash, folders before what is in them. */
export function packageFiles(packages: readonly string[]): readonly string[] {
  const paths = new Set<string>();
  for (const name of packages.map((each) => each.split('=')[0]!)) {
    const list = globSync(`/var/lib/dpkg/info/${name}{,:*}.list`)[0];
    if (list === undefined) continue;
    for (const path of readFileSync(list, 'utf8').split('\n')) {
      const real = mergedPath(path);
      if (real.length > 1 && !leftOut.test(real) && existsHere(real)) paths.add(real);
    }
  }
  // Made by what runs when a package is installed: alternatives, PAM's profiles, Python's compiler.
  for (const path of globSync('/etc/{alternatives/*,pam.d/common-*}')) paths.add(path);
  for (const name of ['awk', 'which', 'pager', 'editor', 'nawk'])
    if (existsHere(`/usr/bin/${name}`)) paths.add(`/usr/bin/${name}`);
  for (const path of globSync('/usr/lib/python3*/**/__pycache__/*.pyc')) paths.add(path);
  for (const path of [
    '/bin',
    '/sbin',
    '/lib',
    '/lib32',
    '/lib64',
    '/libx32',
    '/etc/ld.so.cache',
    '/etc/nsswitch.conf',
    '/etc/profile',
    '/etc/bash.bashrc',
  ])
    if (existsHere(path)) paths.add(path);
  return [...paths].sort().map((path) => path.slice(1));
}

/** Packages name `/bin/sh`; where `/bin` is a link the file is in `/usr/bin`. */
function mergedPath(path: string): string {
  const top = /^\/(bin|sbin|lib|lib32|lib64|libx32)\//.exec(path)?.[1];
  return top !== undefined && lstatSync(`/${top}`).isSymbolicLink() ? `/usr${path}` : path;
}

function existsHere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
