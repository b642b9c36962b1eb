import { shapeNames } from './explain.ts';
import type { Key } from './key.ts';
import { legacyKeys } from './legacy.ts';
import { mantaKeys } from './manta.ts';
import { nodeTypeKeys } from './node-types.ts';
import { providerKeys } from './provider.ts';
import { topKeys } from './top.ts';

/** Every key as Markdown tables: the generated part of docs/cluster-yaml.md. */
export function keyReference(): string {
  const under = (section: string): readonly Key[] => topKeys.filter((key) => key.path.startsWith(`${section}.`));
  const top = topKeys.filter((key) => !key.path.includes('.'));
  return [
    table('The file', top),
    table('auth', under('auth')),
    table('docker', under('docker')),
    table('available_node_types', nodeTypeKeys),
    table('provider', providerKeys, true),
    table("provider.manta: Manta's own keys", mantaKeys),
    legacyTable(),
  ].join('\n');
}

function table(title: string, keys: readonly Key[], providers = false): string {
  const head = providers
    ? '| key | type | for | default | meaning |\n|---|---|---|---|---|\n'
    : '| key | type | default | meaning |\n|---|---|---|---|\n';
  const rows = keys.map((key) => {
    const cells = [
      `\`${key.path}\``,
      typeText(key),
      ...(providers ? [key.providers?.join(', ') ?? 'all'] : []),
      key.default ?? '',
      key.doc,
    ];
    return `| ${cells.map(escape).join(' | ')} |\n`;
  });
  return `### ${title}\n\n${head}${rows.join('')}`;
}

function legacyTable(): string {
  const rows = legacyKeys.map(
    (key) => `| ${[`\`${key.path}\``, typeText(key), key.legacy ?? '', key.doc].map(escape).join(' | ')} |\n`,
  );
  return `### Keys of earlier Ray versions\n\n| key | type | today | meaning |\n|---|---|---|---|\n${rows.join('')}`;
}

const typeText = (key: Key): string =>
  `${shapeNames[key.shape]}${key.minimum === undefined ? '' : `, ≥ ${key.minimum}`}${key.required ? ', required' : ''}`;
/** Names in angle brackets are no HTML. */
const escape = (text: string): string =>
  text.startsWith('`')
    ? text.replaceAll('|', '\\|')
    : text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
