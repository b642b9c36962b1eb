/** The head asks every raylet for its waiting work this often, at most: more questions a second than this cost it a core. */
const questionsASecond = 200;
const fastest = 100;
const slowest = 1_000;
/** Where nothing is known of how many there will be. */
const someWorkers = 50;

/**
 * Shell text with settings of Ray that make it tell sooner what Manta acts on, where neither the user nor an image has set
 * them. Demand is seen within a tenth of a second, not within one; a raylet that is gone, whose port refuses, is struck
 * from the table after five seconds, not fifteen. How long a raylet may be silent stays as it is.
 */
export function headSettingsText(mostWorkers = someWorkers): string {
  const pull = Math.min(slowest, Math.max(fastest, Math.round((mostWorkers * 1_000) / questionsASecond)));
  return `${unlessSet('RAY_gcs_pull_resource_loads_period_milliseconds', pull)}${unlessSet('RAY_health_check_period_ms', 1_000)}`;
}

const unlessSet = (name: string, value: number): string => `export ${name}="\${${name}-${value}}"\n`;
