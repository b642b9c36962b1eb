import type { Handlers } from '../caller.ts';
import { diskHandlers } from './disks.ts';
import { instanceHandlers } from './instances.ts';
import { networkHandlers } from './networks.ts';
import { operationHandlers } from './operations.ts';
import { placeHandlers } from './places.ts';
import { projectHandlers } from './projects.ts';

export const computeHandlers: Handlers = new Map([
  ...instanceHandlers,
  ...operationHandlers,
  ...placeHandlers,
  ...networkHandlers,
  ...diskHandlers,
  ...projectHandlers,
]);
