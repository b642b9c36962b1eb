import { type Difference, differencesOf } from '../differences.ts';
import { dig, entriesAt, isMap, type Json, listAt } from '../kube/object.ts';
import { appName } from './progress.ts';

/** What a new config does to one application. */
export interface AppChange {
  readonly name: string;
  readonly effect: 'added' | 'deleted' | 'rebuilt' | 'in place' | 'unchanged';
  readonly differences: readonly Difference[];
}

export interface ServeChange {
  readonly apps: readonly AppChange[];
  /** Changes of Serve as a whole, such as its port: a Serve that runs ignores them. */
  readonly ignored: readonly Difference[];
}

/** Options of the processes in front of the applications; they are read once, when Serve starts. */
const fixed = ['proxy_location', 'http_options', 'grpc_options', 'controller_options', 'tracing_config'];

/** What is sent replaces everything: an application that is no longer in it is deleted. */
export function serveChangeOf(before: Json, after: Json): ServeChange {
  const old = new Map(listAt(before, 'applications').map((app) => [appName(app), app]));
  const fresh = new Map(listAt(after, 'applications').map((app) => [appName(app), app]));
  const apps = [
    ...[...fresh].map(([name, app]): AppChange => {
      const was = old.get(name);
      if (was === undefined) return { name, effect: 'added', differences: [] };
      const differences = blanked(differencesOf(was, app, ''));
      return { name, effect: effectOf(differences), differences };
    }),
    ...[...old.keys()]
      .filter((name) => !fresh.has(name))
      .map((name): AppChange => ({ name, effect: 'deleted', differences: [] })),
  ];
  const ignored = fixed.flatMap((key) => {
    const [from, to] = [before, after].map((each) => new Map(entriesAt(each)).get(key));
    // What the new config leaves out is left as it is.
    const meant =
      isMap(from) && isMap(to)
        ? Object.fromEntries(Object.keys(to).map((name) => [name, dig(from, name) ?? null]))
        : from;
    return meant === undefined || to === undefined ? [] : differencesOf(meant, to, key);
  });
  return { apps, ignored: blanked(ignored) };
}

/** New code, or code that is called in another way, is loaded again; all other options reach running replicas or add some. */
function effectOf(differences: readonly Difference[]): AppChange['effect'] {
  if (differences.length === 0) return 'unchanged';
  return differences.some(({ path }) => /^\.(?:import_path|runtime_env|args)(?:[.[]|$)/.test(path))
    ? 'rebuilt'
    : 'in place';
}

/** Variables may be secrets. */
const blanked = (differences: readonly Difference[]): readonly Difference[] =>
  differences.map((each) =>
    /\benv_vars(?:\.|$)|password/i.test(each.path)
      ? { ...each, from: each.from === undefined ? undefined : '***', to: each.to === undefined ? undefined : '***' }
      : each,
  );

/** The config that a Serve runs, from what it says of itself; applications that a program started are not in it. */
export function configIn(details: Json): Json {
  const applications = entriesAt(details, 'applications').flatMap(([, app]) => {
    const config = dig(app, 'deployed_app_config');
    return isMap(config) ? [config] : [];
  });
  const options = fixed.flatMap((key) => {
    const value = dig(details, key);
    return value === undefined || value === null ? [] : [[key, value] as const];
  });
  return { ...Object.fromEntries(options), applications };
}
