import { fileURLToPath } from 'node:url';

/** Programs that Manta starts as processes of their own. */
const sources = {
  mantad: '../head/mantad.ts',
  supervisor: '../head/supervisor.ts',
  agent: '../engines/embedded/agent/main.ts',
  raylet: '../head/one-machine/raylet.ts',
  'kube-exec': '../cli/kube-exec.ts',
  kube: '../head/kube/start.ts',
} as const;

export type Program = keyof typeof sources;

/** The file to give to Node for a program: the source in a checkout, `<program>.js` at the top of a bundle. */
export function entryFile(program: Program): string {
  const here = import.meta.url;
  if (here.endsWith('.ts')) return fileURLToPath(new URL(sources[program], here));
  return fileURLToPath(new URL(here.includes('/chunks/') ? `../${program}.js` : `./${program}.js`, here));
}
