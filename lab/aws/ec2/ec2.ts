import type { Ec2Handlers } from '../handlers.ts';
import { groupHandlers } from './groups.ts';
import { instanceHandlers } from './instances.ts';
import { keyHandlers } from './keys.ts';
import { networkHandlers } from './network.ts';
import { tagHandlers } from './tags.ts';
import { templateHandlers } from './templates.ts';
import { typeHandlers } from './types.ts';
import { volumeHandlers } from './volumes.ts';

export const ec2Handlers: Ec2Handlers = {
  ...instanceHandlers,
  ...tagHandlers,
  ...typeHandlers,
  ...networkHandlers,
  ...groupHandlers,
  ...keyHandlers,
  ...templateHandlers,
  ...volumeHandlers,
};
