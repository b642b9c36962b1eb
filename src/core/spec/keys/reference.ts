import { shapeNames } from './explain.ts';
import type { Key } from './key.ts';
import { isInNodeConfig } from './table.ts';

/** Every key as Markdown tables: the generated part of docs/cluster-yaml.md. */
export function keyReference(keys: readonly Key[]): string {
  const current = keys.filter(({ legacy }) => legacy === undefined);
  const under = (section: string): readonly Key[] =>
    current.filter(({ path }) => path === section || path.startsWith(`${section}.`));
  const inside = (section: string): readonly Key[] => under(section).filter(({ path }) => path !== section);
  const manta = under('provider.manta');
  return [
    table(
      'The file',
      current.filter(({ path }) => !path.includes('.') && path !== 'available_node_types'),
    ),
    table('auth', inside('auth')),
    table('docker', inside('docker')),
    table(
      'available_node_types',
      under('available_node_types').filter(({ path }) => !isInNodeConfig(path)),
    ),
    table(
      'node_config: what is launched',
      current.filter(({ path }) => isInNodeConfig(path)),
      true,
    ),
    table(
      'provider',
      inside('provider').filter((key) => !manta.includes(key)),
      true,
    ),
    table("provider.manta: Manta's own keys", manta),
    legacyTable(keys),
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

function legacyTable(keys: readonly Key[]): string {
  const rows = keys.flatMap((key) =>
    key.legacy === undefined
      ? []
      : [`| ${[`\`${key.path}\``, typeText(key), key.legacy, key.doc].map(escape).join(' | ')} |\n`],
  );
  return `### Keys of earlier Ray versions\n\n| key | type | use instead | meaning |\n|---|---|---|---|\n${rows.join('')}`;
}

const typeText = (key: Key): string =>
  `${shapeNames[key.shape]}${key.minimum === undefined ? '' : `, ≥ ${key.minimum}`}${key.required ? ', required' : ''}`;
/** Names in angle brackets are not HTML. */
const escape = (text: string): string =>
  text.startsWith('`')
    ? text.replaceAll('|', '\\|')
    : text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
