import { signal } from '@preact/signals';

export interface Route {
  /** `['jobs', 'job-1']` for `#/jobs/job-1`. */
  readonly path: readonly string[];
  readonly params: URLSearchParams;
}

/** The part behind `#` is the route: the page works under any prefix and from any server. */
export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const question = text.indexOf('?');
  const path = question < 0 ? text : text.slice(0, question);
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decode),
    params: new URLSearchParams(question < 0 ? '' : text.slice(question + 1)),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a view; empty parameters are left out. */
export function linkTo(path: readonly string[], params: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== undefined && value !== '') query.set(name, value);
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

export const jobLink = (id: string): string => linkTo(['jobs', id]);
export const nodeLink = (instance: string): string => linkTo(['nodes', instance]);

export const route = signal<Route>({ path: [], params: new URLSearchParams() });

export function followHash(): void {
  const read = (): void => {
    route.value = parseRoute(location.hash);
  };
  window.addEventListener('hashchange', read);
  read();
}

/** Goes to a view; `replace` keeps it out of the history, as typing in a filter should. */
export function goTo(link: string, replace = false): void {
  if (!replace) {
    location.hash = link;
    return;
  }
  history.replaceState(null, '', link);
  route.value = parseRoute(link);
}
