import { defineEvent } from '../base/events.ts';

/** What is told of a node's container. */
export const containerEvents = {
  made: defineEvent<{ node: string; name: string; image: string; why: string }>({
    code: 'MANTA_CONTAINER_MADE',
    level: 'info',
    text: (e) => `${e.node}: the container '${e.name}' runs '${e.image}' (${e.why})`,
  }),
  unreadable: defineEvent<{ node: string; name: string; path: string }>({
    code: 'MANTA_CONTAINER_UNREADABLE',
    level: 'warn',
    text: (e) => `${e.node}: the user of the container '${e.name}' may not read the file mount ${e.path}`,
  }),
};
