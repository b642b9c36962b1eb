/** By what a secret is called. */
export const secretName =
  /secret|passw(?:or)?d|passphrase|(?<!launch)token|credential|api[_-]?key|access[_-]?key|auth_key/i;

// Bounded between its fixed words, so that a log of any length takes time in proportion to it.
const namedInText = new RegExp(
  `(?:${secretName.source})\\w{0,40}["']?\\s{0,20}[:=]\\s{0,20}["']?([^\\s"',;}]{6,500})|bearer\\s{1,20}([\\w.~+/-]{8,500})|://[^\\s:/@]{1,100}:([^\\s@/]{6,200})@`,
  'gi',
);

/**
 * Values that a text shows under a secret's name. They are to be masked wherever else they occur: a command may have
 * printed one without its name. In a text of any program a plain word behind such a name is no secret yet.
 */
export function secretsInText(text: string, from: 'cluster-file' | 'any'): string[] {
  return [...text.matchAll(namedInText)]
    .map((match) => match.slice(1).find((value) => value !== undefined)!)
    .filter((value) => !isPlace(value) && (from === 'cluster-file' || looksRandom(value)));
}

/** A variable, a path or an address: where a secret is, or something else altogether. */
export const isPlace = (value: string): boolean => /^(?:[$~/<{[(*]|\w+:\/\/|\d+\.\d+\.\d+\.\d+)/.test(value);

export const looksRandom = (value: string): boolean => value.length >= 8 && /\d/.test(value);
