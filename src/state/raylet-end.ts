import { join } from 'node:path';

/** Whose end it was: Ray's, by itself, or one that the node chose, as it does with its head. */
export interface RayletEnd {
  readonly by: 'ray' | 'node';
}

export const rayletEndFile = (instanceFolder: string): string => join(instanceFolder, 'end.json');
