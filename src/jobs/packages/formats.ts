/** Endings of archives that can be a working directory or hold modules, as Ray takes them. */
export const archiveEndings: readonly string[] = ['.zip', '.tar.gz', '.tgz', '.tar.xz'];

export const moduleEndings: readonly string[] = [...archiveEndings, '.whl'];

/** The ending of a package's name that says what it is; undefined when none does. */
export const endingOf = (name: string): string | undefined => moduleEndings.find((ending) => name.endsWith(ending));

/** The file name of the wheel at an address, from which pip reads what it is; undefined when it can be none. */
export function wheelName(url: string): string | undefined {
  const name = decoded(new URL(url).pathname.split('/').at(-1) ?? '');
  return name !== undefined && /^\w[\w.+!-]{0,195}\.whl$/.test(name) ? name : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
