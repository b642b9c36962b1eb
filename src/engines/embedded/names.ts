/** What the engine and its agents keep in their folder. */
export const engineNames = {
  agents: 'agents',
  attempts: 'attempts',
  environments: 'environments',
  standing: 'standing.json',
  epoch: 'epoch.json',
} as const;
