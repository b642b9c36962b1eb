/**
 * What an object itself holds under a name, undefined when it holds nothing. Names from outside are looked up with it:
 * `constructor` or `toString` would otherwise find what every object has.
 */
export const ownValue = <Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;
