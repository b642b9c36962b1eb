import { join } from 'node:path';
import { makeFolder, readJson, writeLiveJson } from '../base/json-file.ts';
import { socketName } from '../base/ssh/control.ts';
import type { SshTarget } from '../base/ssh/target.ts';
import { version } from '../base/version.ts';
import type { Place } from '../bringup/node.ts';

/** What a command line has said of the cluster it means, and what is written there. */
export interface Said {
  /** Path of the file, or name of the cluster. */
  readonly word: string;
  /** `-n`. */
  readonly named?: string;
  /** Text of the cluster file. */
  readonly text: string;
}

/** The way to a cluster's head, as an earlier command worked it out. */
export interface Way {
  readonly name: string;
  readonly target: SshTarget;
  readonly place: Place;
  /** The head's address as users are shown it. */
  readonly shown: string;
}

interface KeptWay extends Way, Said {
  readonly madeBy: string;
}

/**
 * Reading and checking a cluster file takes as long as all the rest of a short command. The same words with the same text
 * lead the same way: then it is looked up. Undefined where the text is another, or another Manta has written it.
 */
export function knownWay(home: string, said: Said): Way | undefined {
  try {
    const kept = readJson<KeptWay>(fileOf(home, said));
    const same = kept?.word === said.word && kept.named === said.named && kept.text === said.text;
    return same && kept.madeBy === version ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** A way that cannot be kept is worked out again next time. */
export function keepWay(home: string, said: Said, { name, target, place, shown }: Way): void {
  const known = { ...target, socket: socketName(target) };
  const kept: KeptWay = { madeBy: version, ...said, name, target: known, place, shown };
  try {
    makeFolder(join(home, 'ways'));
    writeLiveJson(fileOf(home, said), kept);
  } catch {}
}

const fileOf = (home: string, { word, named }: Said): string =>
  join(home, 'ways', `${shortOf(JSON.stringify([word, named]))}.json`);

/** Two words of the same short one share a file, which says whose it is. */
function shortOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
