import { STANDARD } from './node.ts';
import type { Resolve } from './parser.ts';

const booleans = new Map<string, string>();
for (const [value, words] of [
  ['true', ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']],
  ['false', ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']],
] as const)
  for (const word of words) booleans.set(word, value);

const nulls = new Set(['', '~', 'null', 'Null', 'NULL']);
const integer = /^([-+]?)(0b[01]+|0o?[0-7]+|0x[0-9a-fA-F]+|[1-9]\d*|0)$/;
const float = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

/** Plain scalars as kubectl reads them: `y` and `on` are true, `017` and `0o17` are 15, dates and `1:30` are texts. */
export const asKubectl: Resolve = (text) => {
  if (nulls.has(text)) return { tag: `${STANDARD}null`, text };
  if (text === '<<') return { tag: `${STANDARD}merge`, text };
  const boolean = booleans.get(text);
  if (boolean !== undefined) return { tag: `${STANDARD}bool`, text: boolean };
  const digits = text.replaceAll('_', '');
  const [, sign = '', whole] = integer.exec(digits) ?? [];
  if (whole !== undefined) {
    const value = BigInt(/^0[0-7]+$/.test(whole) ? `0o${whole}` : whole);
    return { tag: `${STANDARD}int`, text: `${sign === '-' ? '-' : ''}${value}` };
  }
  if (!float.test(digits)) return { tag: `${STANDARD}str`, text };
  const value = Number(digits);
  return { tag: STANDARD + (Number.isInteger(value) ? 'int' : 'float'), text: String(value) };
};
