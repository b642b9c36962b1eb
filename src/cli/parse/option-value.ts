import { nearest } from '../../core/spec/keys/nearest.ts';
import type { Command, Option } from '../command.ts';
import { cliErrors } from '../errors.ts';
import { typed } from '../tree.ts';

/** The text given for an option, as a value of its type; throws what is wrong with it. */
export function typedValue(text: string, option: Option, shown: string, command: Command): string | number {
  const bad = (expected: string): Error =>
    cliErrors.BadValue({ command: typed(command.path), option: shown, value: text, expected });
  if (option.choices !== undefined) return chosen(text, option.choices, option, shown, command);
  if (option.type === 'integer') {
    const digits = text.trim();
    if (!/^[+-]?\d+$/.test(digits) || !Number.isSafeInteger(Number(digits)) || !isWithin(Number(digits), option))
      throw bad(`a whole number${rangeOf(option)}`);
    return Number(digits);
  }
  if (option.type === 'number') {
    if (text.trim() === '' || !Number.isFinite(Number(text)) || !isWithin(Number(text), option))
      throw bad(`a number${rangeOf(option)}`);
    return Number(text);
  }
  return text;
}

function chosen(text: string, choices: readonly string[], option: Option, shown: string, command: Command): string {
  const found = choices.find(
    (choice) => choice === text || (option.anyCase === true && choice.toLowerCase() === text.toLowerCase()),
  );
  if (found !== undefined) return found;
  throw cliErrors.BadChoice({
    command: typed(command.path),
    option: shown,
    value: text,
    choices: choices.join(', '),
    nearest: nearest(text, choices),
  });
}

const isWithin = (value: number, { min, max }: Option): boolean =>
  value >= (min ?? Number.NEGATIVE_INFINITY) && value <= (max ?? Number.POSITIVE_INFINITY);

function rangeOf({ min, max }: Option): string {
  if (min === undefined) return max === undefined ? '' : ` of at most ${max}`;
  return max === undefined ? ` of at least ${min}` : ` from ${min} to ${max}`;
}
