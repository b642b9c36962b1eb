import type { Plain } from '../cluster.ts';
import type { ProviderKind } from '../provider-facts.ts';

/** What a key holds. `section` has children in the table; `named` holds entries that the user names. */
export type KeyShape =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'duration'
  | 'any'
  | 'map'
  | 'list'
  | 'commands'
  | 'texts'
  | 'section'
  | 'named';

/** One key of `cluster.yaml`: the structural check, the JSON Schema, `explain` and the reference page read it here. */
export interface Key {
  /** Dotted; `<type>` and `<name>` stand for names the user chooses. */
  readonly path: string;
  readonly shape: KeyShape;
  /** One line. */
  readonly doc: string;
  /** In words; absent where there is none. */
  readonly default?: string;
  readonly example?: Plain;
  readonly required?: boolean;
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly choices?: readonly string[];
  /** Children that the table does not list are passed through. */
  readonly open?: boolean;
  /** Provider types that read it; absent: all. The table of keys fills it in from what providers declare. */
  readonly providers?: readonly string[];
  /** Kinds of providers that read it, where those decide; the table turns them into names. */
  readonly kinds?: readonly ProviderKind[];
  /** Set on keys of earlier Ray versions: what to write today. */
  readonly legacy?: string;
  /** `env` values and placeholders in it belong to a shell. */
  readonly shell?: boolean;
  /** Manta's own: Ray lets it pass. */
  readonly manta?: boolean;
}

export type Extra = Omit<Key, 'path' | 'shape' | 'doc' | 'providers'>;

export const key = (path: string, shape: KeyShape, doc: string, extra: Extra = {}): Key => ({
  path,
  shape,
  doc,
  ...extra,
});

/** Whether the value of a key is nobody's business. */
export const holdsSecret = (name: string): boolean => /secret|passw|token|credential|api_?key|access_?key/i.test(name);

export const segmentsOf = (path: string): readonly string[] => path.split('.');
export const isName = (segment: string): boolean => segment.startsWith('<');
