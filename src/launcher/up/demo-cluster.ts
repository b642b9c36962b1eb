import { shellQuoted } from '../../base/shell/shell-quote.ts';

/** The cluster and the work that `manta demo` shows: a small sweep that makes workers come, and go when it is done. */

export const demoName = 'demo';

export const demoSpec = `cluster_name: ${demoName}
provider:
  type: process
max_workers: 4
idle_timeout_minutes: 0.1
head_node_type: head
available_node_types:
  head:
    resources: {CPU: 0}
    node_config: {}
  worker:
    resources: {CPU: 1}
    min_workers: 0
    max_workers: 4
    node_config: {}
`;

const samples = 12;

/** Each job throws darts at a circle with a seed of its own and says what it makes of pi. Node is all it needs. */
export function demoJobs(
  node: string,
  run: string,
): { readonly id: string; readonly entrypoint: string; readonly resources: { readonly CPU: 1 } }[] {
  return Array.from({ length: samples }, (_, index) => ({
    id: `pi-${run}-${index + 1}`,
    entrypoint: `${shellQuoted(node)} -e ${shellQuoted(program)} ${index + 1}`,
    resources: { CPU: 1 as const },
  }));
}

const program = [
  'let s = Number(process.argv[1]) * 2654435761 >>> 0, hits = 0, n = 0;',
  'const random = () => (s = Math.imul(s ^ s >>> 15, 1 | s) + 0x6d2b79f5 >>> 0) / 2 ** 32;',
  'const begin = Date.now();',
  'for (let step = 1; step <= 10; step++) {',
  '  for (const until = begin + step * 250; Date.now() < until; )',
  '    for (let i = 0; i < 1e4; i++, n++) { const x = random(), y = random(); if (x * x + y * y < 1) hits++; }',
  '  console.log(`${n} darts: pi is about ${(4 * hits / n).toFixed(6)}`);',
  '}',
].join(' ');
