import { join } from 'node:path';
import { makeFolder, readJson, writeLiveJson } from '../../base/files/json-file.ts';
import { socketName } from '../../base/ssh/control.ts';
import type { SshTarget } from '../../base/ssh/target.ts';
import { version } from '../../base/version.ts';
import type { CommandPlace } from '../../bringup/node/node.ts';

/** What a command line has said of the cluster it means, and what is written there. */
export interface RouteKey {
  /** Path of the file, or name of the cluster. */
  readonly word: string;
  /** `-n`. */
  readonly named?: string;
  /** Text of the cluster file. */
  readonly text: string;
}

/** The route to a cluster's head, as an earlier command worked it out. */
export interface HeadRoute {
  readonly name: string;
  readonly target: SshTarget;
  readonly place: CommandPlace;
  /** The head's address as users are shown it. */
  readonly shown: string;
}

interface KeptRoute extends HeadRoute, RouteKey {
  readonly madeBy: string;
}

/**
 * Reading and checking a cluster file takes as long as all the rest of a short command. The same words with the same text
 * lead to the same route: then it is looked up. Undefined where the text is another, or another Manta has written it.
 */
export function knownRoute(home: string, said: RouteKey): HeadRoute | undefined {
  try {
    const kept = readJson<KeptRoute>(fileOf(home, said));
    const same = kept?.word === said.word && kept.named === said.named && kept.text === said.text;
    return same && kept.madeBy === version ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** A route that cannot be kept is worked out again next time. */
export function keepRoute(home: string, said: RouteKey, { name, target, place, shown }: HeadRoute): void {
  const known = { ...target, socket: socketName(target) };
  const kept: KeptRoute = { madeBy: version, ...said, name, target: known, place, shown };
  try {
    makeFolder(join(home, 'ways'));
    writeLiveJson(fileOf(home, said), kept);
  } catch {}
}

const fileOf = (home: string, { word, named }: RouteKey): string =>
  join(home, 'ways', `${shortOf(JSON.stringify([word, named]))}.json`);

/** Two words of the same short one share a file, which says whose it is. */
function shortOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
