import { defineEvent } from '../base/events.ts';

/** What the commands that change a cluster tell on the way. */
export const launcherEvents = {
  starting: defineEvent<{ name: string }>({
    code: 'MANTA_LAUNCHER_STARTING',
    level: 'info',
    text: (e) => `starting the cluster '${e.name}'`,
  }),
  started: defineEvent<{ name: string; url: string }>({
    code: 'MANTA_LAUNCHER_STARTED',
    level: 'info',
    text: (e) => `the cluster '${e.name}' runs at ${e.url}`,
  }),
  ending: defineEvent<{ name: string; what: string }>({
    code: 'MANTA_LAUNCHER_ENDING',
    level: 'info',
    text: (e) => `ending ${e.what} of the cluster '${e.name}'`,
  }),
  ended: defineEvent<{ name: string; instances: number }>({
    code: 'MANTA_LAUNCHER_ENDED',
    level: 'info',
    text: (e) =>
      `the cluster '${e.name}' is down: no process of it is left (instances that were ended: ${e.instances})`,
  }),
  portLater: defineEvent<{ port: number; url: string }>({
    code: 'MANTA_LAUNCHER_PORT_LATER',
    level: 'warn',
    text: (e) => `the cluster serves ${e.url} until it is started anew; port ${e.port} takes effect then`,
  }),
};
