/** The oldest and the newest Ray that the tests run on. */
const tested = { oldest: '2.54', newest: '2.60' } as const;

/** The tested range, when this version is not in it. */
export function untested(
  version: string,
): { readonly version: string; readonly oldest: string; readonly newest: string } | undefined {
  const number = minorOf(version);
  const inside = number !== undefined && number >= weight(tested.oldest) && number <= weight(tested.newest);
  return inside ? undefined : { version: version || 'of an unknown version', ...tested };
}

function minorOf(version: string): number | undefined {
  return /^\d+\.\d+/.test(version) ? weight(version) : undefined;
}

function weight(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 10_000 + minor;
}
