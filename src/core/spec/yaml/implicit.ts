import { STANDARD } from './node.ts';

/** Python's `$` lets one line feed stand behind the match; only `! "…"` can bring one here. */
const forms: readonly (readonly [kind: string, starts: string, form: RegExp])[] = [
  ['bool', 'yYnNtTfFoO', /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)\n?$/],
  [
    'float',
    '-+0123456789.',
    /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\n?$/,
  ],
  [
    'int',
    '-+0123456789',
    /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)\n?$/,
  ],
  ['merge', '<', /^<<\n?$/],
  ['null', '~nN', /^(?:~|null|Null|NULL)\n?$/],
  [
    'timestamp',
    '0123456789',
    /^(?:\d{4}-\d{2}-\d{2}|\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|[ \t]+)\d{1,2}:\d{2}:\d{2}(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d{1,2}(?::\d{2})?))?)\n?$/,
  ],
  ['value', '=', /^=\n?$/],
  ['yaml', '!&*', /^[!&*]\n?$/],
];

const byStart = new Map<string, (readonly [tag: string, form: RegExp])[]>();
for (const [kind, starts, form] of forms) {
  for (const start of starts) byStart.set(start, [...(byStart.get(start) ?? []), [STANDARD + kind, form]]);
}

/** The tag that YAML 1.1, as PyYAML reads it, gives to a plain scalar. */
export function implicitTag(text: string): string {
  if (text === '') return `${STANDARD}null`;
  const found = byStart.get(text.charAt(0))?.find(([, form]) => form.test(text));
  return found?.[0] ?? `${STANDARD}str`;
}
