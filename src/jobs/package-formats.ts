/** Endings of archives that can be a working directory or hold modules, as Ray takes them. */
export const archiveEndings: readonly string[] = ['.zip', '.tar.gz', '.tgz', '.tar.xz'];

export const moduleEndings: readonly string[] = [...archiveEndings, '.whl'];

/** The ending of a package's name that says what it is; undefined when none does. */
export const endingOf = (name: string): string | undefined => moduleEndings.find((ending) => name.endsWith(ending));
