/** The Ray whose API Manta speaks, whose planner and checks it is held to, and which it installs where there is none. */
export const rayVersion = '2.60.0';

/** The commit that it was built from. */
export const rayCommit = 'b7f4259e944bf6959f721b106adc366ddfa0c356';

/** An older Ray on which the tests run as well: the oldest that Manta is tested with. */
export const olderRayVersion = '2.54.0';

/** The first Ray that can ask for a token. */
export const tokensSince = '2.52';

/** `major.minor`, by which Ray's releases differ in what they do. */
export const releaseOf = (version: string): string => version.split('.').slice(0, 2).join('.');

/** The tested range, when this version is not in it. */
export function untested(
  version: string,
): { readonly version: string; readonly oldest: string; readonly newest: string } | undefined {
  const inside =
    /^\d+\.\d+/.test(version) && isAtLeast(version, olderRayVersion) && isAtLeast(rayVersion, releaseOf(version));
  const [oldest, newest] = [releaseOf(olderRayVersion), releaseOf(rayVersion)];
  return inside ? undefined : { version: version || 'unknown', oldest, newest };
}

/** Whether a version is of this release or of a later one. */
export function isAtLeast(version: string, release: string): boolean {
  return weight(version) >= weight(release);
}

function weight(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 10_000 + minor;
}
