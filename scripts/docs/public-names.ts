import { basename } from 'node:path';
import { openapiDocument } from '../../src/api/openapi.ts';
import { commands } from '../../src/cli/commands.ts';
import { globalOptions } from '../../src/cli/global-options.ts';
import { typed } from '../../src/cli/tree.ts';
import { providers } from '../../src/providers/table.ts';
import { stateFolder } from '../../src/state/state-folder.ts';
import { declaredErrors, declaredEvents, declaredProblems } from './declared.ts';
import { exitCodes } from './exit-codes.ts';
import { declaredMetrics } from './metrics.ts';

/**
 * Every name that a user's script may rely on, a line each: codes with their exit codes and levels, metrics with their
 * labels, routes with the fields of their answers, flags, exit codes, keys of the cluster file, names in the state folder.
 */
export async function publicNames(): Promise<readonly string[]> {
  const errors = (await declaredErrors()).map(({ code, exit }) => `error ${code} exits ${exit}`);
  const events = (await declaredEvents()).map(({ code, level }) => `event ${code} ${level}`);
  const problems = (await declaredProblems()).map(({ code, severity }) => `problem ${code} ${severity}`);
  const metrics = declaredMetrics().map(({ name, type, labels }) =>
    `metric ${name} ${type} ${labels.join(',')}`.trim(),
  );
  const exits = Object.keys(exitCodes).map((code) => `exit ${code}`);
  const files = Object.values(stateFolder('home', 'name').files).map((file) => `state ${basename(file)}`);
  return [
    ...errors,
    ...events,
    ...problems,
    ...metrics,
    ...exits,
    ...files,
    ...providers.keys.map(({ path }) => `key ${path}`),
    ...flags(),
    ...routes(),
  ].sort();
}

function flags(): string[] {
  const named = (command: string, options: typeof globalOptions): string[] =>
    options.flatMap(({ name, short, off }) =>
      [`--${name}`, short && `-${short}`, off && `--${off}`].filter(Boolean).map((flag) => `flag ${command} ${flag}`),
    );
  return [
    ...named('*', globalOptions),
    ...commands.flatMap((command) => [
      `command ${typed(command.path)} ${command.args.map(({ name }) => name).join(' ')}`.trim(),
      ...named(typed(command.path), command.options),
    ]),
  ];
}

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

function routes(): string[] {
  const document = openapiDocument('0.0.0') as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Route>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  interface Body {
    readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
  }
  interface Route {
    readonly parameters?: readonly { readonly name: string; readonly in: string }[];
    readonly requestBody?: Body;
    readonly responses?: Readonly<Record<string, Body>>;
  }
  const fieldsOf = (schema: Schema, at: string, seen: readonly string[] = []): string[] => {
    if (schema.$ref !== undefined) {
      const found = document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
      return found === undefined || seen.includes(schema.$ref) ? [] : fieldsOf(found, at, [...seen, schema.$ref]);
    }
    const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
    const more = typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
    return [
      ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => [
        `${at}.${name}`,
        ...fieldsOf(each, `${at}.${name}`, seen),
      ]),
      ...(schema.items ? fieldsOf(schema.items, `${at}[]`, seen) : []),
      ...more.flatMap((each) => fieldsOf(each, `${at}{}`, seen)),
      ...parts.flatMap((each) => fieldsOf(each, at, seen)),
    ];
  };
  const schemasOf = (body: Body | undefined): Schema[] =>
    Object.values(body?.content ?? {}).flatMap(({ schema }) => (schema === undefined ? [] : [schema]));
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, route]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const answers = Object.entries(route.responses ?? {}).filter(([status]) => status.startsWith('2'));
      return [
        `route ${name}`,
        ...(route.parameters ?? []).map((each) => `route ${name} takes ${each.in} ${each.name}`),
        ...schemasOf(route.requestBody).flatMap((each) => fieldsOf(each, `route ${name} takes body`)),
        ...answers.flatMap(([, answer]) =>
          schemasOf(answer).flatMap((each) => fieldsOf(each, `route ${name} answers `)),
        ),
      ];
    }),
  );
}
