import { fc } from '../../../property.ts';
import { sampleTexts } from './corpus.ts';

/** The seed of all random tests here; set MANTA_SEED to try others. */
export const seed = Number(process.env.MANTA_SEED ?? 20_260);

/** Pieces with a meaning in YAML 1.1, or with one in other versions only. */
const pieces = [
  ...[' ', '  ', '\n', '\n\n', '\t', ':', ': ', ' :', '- ', '-', '? ', '?', ',', '[', ']', '{', '}', '#', ' #'],
  ...['&a ', '*a', '&b ', '*b', '!', '!!str ', '!!int ', '!!float ', '!!map ', '!!seq ', '!!null ', '!!bool '],
  ...['!!timestamp ', '!!omap ', '!!pairs ', '!!set ', '!!binary ', '!foo ', '!<tag:yaml.org,2002:str> ', '!a!b '],
  ...['|', '>', '|-\n', '>+\n', '|2', "'", '"', "''", '\\', '\\n', '\\x41', '\\u00e9', '\\ud83d', '%', '@', '`'],
  ...['%YAML 1.1\n', '%TAG ! x\n', '---\n', '--- ', '...\n', '<<: *a', '<<: ', '<<', '=', '~', 'null', 'yes', 'No'],
  ...['on', 'y', 'n', '0x1F', '0b1', '017', '08', '0o7', '1_000', '1:30', '1:30.5', '-1:2', '.inf', '-.inf', '.nan'],
  ...['1e3', '1.5e+3', '1.', '.5', '-.5', '1.0', '2001-01-01', '2001-1-1 1:02:03.5 +1:30', '2001-02-30', '0b_'],
  ...['\r\n', '\r', '\u0085', '\u2028', '\ufeff', 'é', '😀', '\x00', '\x07', 'a', 'b', 'x'.repeat(30)],
  ...['key: value\n', '- item\n', '  - x\n', '"q": 1\n', '? k\n: v\n', '{a: b}', '[1, 2]', '{a, b: c}', '[a: b]'],
  `"${'k'.repeat(1030)}": 1`,
];

const piece = fc.constantFrom(...pieces);

/** Pieces in any order: mostly wrong, short, and near every rule of the grammar. */
const soup = fc.array(piece, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(''));

const scalar = fc.constantFrom(
  ...['a', '1', '"x y"', "'it''s'", '*a', '&a z', '!!str 1', '~', '2001-01-01', '1.5', 'yes', 'a b', '', '=', '! "1"'],
  ...[
    '|\n    lit\n',
    '>-\n    fold\n    ed\n',
    '[a, b]',
    '{a: 1}',
    '&b {x: 1}',
    '*b',
    '{<<: *b, y: 2}',
    '{<<: [*a, *b]}',
  ],
);
const key = fc.constantFrom(
  'a',
  'b',
  'c',
  '"q"',
  '1',
  'true',
  '<<',
  '&k kk',
  '*a',
  'n',
  'on',
  '1.0',
  '=',
  '!!str x',
  '8',
);

/** Blocks inside blocks: mostly right. */
const block = fc.letrec<{ block: string[] }>((tie) => ({
  block: fc
    .tuple(
      fc.boolean(),
      fc.array(fc.tuple(key, scalar, fc.option(tie('block'), { depthSize: 'small' }), fc.nat(3)), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([list, items]) =>
      items.flatMap(([name, value, inner, indent]) => {
        const head = list ? '-' : `${name}:`;
        return inner === null ? [`${head} ${value}`] : [head, ...inner.map((line) => ' '.repeat(indent) + line)];
      }),
    ),
})).block;

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(40),
  kind: fc.constantFrom('insert', 'delete', 'double', 'indent', 'drop line'),
  piece,
});

/** A real file with a few of the slips people make. */
const mutated = fc
  .tuple(fc.constantFrom(...sampleTexts()), fc.array(edit, { minLength: 1, maxLength: 4 }))
  .map(([text, edits]) => edits.reduce(applyEdit, text));

function applyEdit(
  text: string,
  { at, length, kind, piece: inserted }: { at: number; length: number; kind: string; piece: string },
): string {
  const from = Math.floor(at * text.length);
  const until = from + length;
  if (kind === 'insert') return text.slice(0, from) + inserted + text.slice(from);
  if (kind === 'delete') return text.slice(0, from) + text.slice(from + 1 + (length % 4));
  if (kind === 'double') return text.slice(0, until) + text.slice(from);
  const lines = text.split('\n');
  const line = Math.floor(at * lines.length);
  if (kind === 'drop line') lines.splice(line, 1);
  else lines[line] = ' '.repeat(length % 7) + (lines[line] ?? '').trimStart();
  return lines.join('\n');
}

/** Texts of every kind, short and long, right and wrong. */
export const yamlText: fc.Arbitrary<string> = fc.oneof(
  soup,
  block.map((lines) => lines.join('\n')),
  mutated,
  fc.string({ unit: 'binary' }),
);
