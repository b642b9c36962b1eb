import type { Option } from './command.ts';

/**
 * What the options of a command are for its code, by their declarations: a switch is a boolean, an option of a closed set
 * one of its words, one that may be repeated a list. Names are in camel case: `--keep-state` is `keepState`. An option that
 * was not given and has no default is missing.
 */
export type OptionValues<Options extends readonly Option[]> = {
  readonly [Each in Options[number] as IsAlwaysThere<Each> extends true
    ? CamelCase<Each['name']>
    : never]: ValueOf<Each>;
} & {
  readonly [Each in Options[number] as IsAlwaysThere<Each> extends true
    ? never
    : CamelCase<Each['name']>]?: ValueOf<Each>;
};

type IsAlwaysThere<Each extends Option> = Each extends { readonly value: string }
  ? Each extends { readonly default: string | number }
    ? true
    : false
  : true;

type ValueOf<Each extends Option> = Each extends { readonly value: string }
  ? Each extends { readonly many: true }
    ? readonly OneOf<Each>[]
    : OneOf<Each>
  : boolean;

type OneOf<Each extends Option> = Each extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Each extends { readonly type: 'integer' | 'number' }
    ? number
    : string;

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** Any value that an option can have. */
export type OptionValue = string | number | boolean | readonly (string | number)[];

/** The values as the code of a command gets them. `given` is by the names of the declarations. */
export function optionValues(
  options: readonly Option[],
  given: ReadonlyMap<string, OptionValue>,
): Readonly<Record<string, OptionValue>> {
  return Object.fromEntries(
    options.flatMap((option) => {
      const value = given.get(option.name) ?? valueIfAbsent(option);
      return value === undefined ? [] : [[keyOf(option.name), value]];
    }),
  );
}

/** A switch with an opposite is there to be switched off. */
export const valueIfAbsent = (option: Option): OptionValue | undefined =>
  option.value === undefined ? option.off !== undefined : option.default;

/** `keep-state` is `keepState`. */
export const keyOf = (name: string): string => name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
