import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { makeFolder, readJson, writeJson } from '../base/json-file.ts';
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

interface KeptWay extends Way {
  readonly madeBy: string;
  readonly text: string;
}

/**
 * Reading and checking a cluster file takes as long as all the rest of a short command. The same words with the same text
 * lead the same way: then it is looked up. Undefined where the text is another, or another Manta has written it.
 */
export function knownWay(home: string, said: Said): Way | undefined {
  try {
    const kept = readJson<KeptWay>(fileOf(home, said));
    return kept?.madeBy === version && kept.text === digest(said.text) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** A way that cannot be kept is worked out again next time. */
export function keepWay(home: string, said: Said, { name, target, place, shown }: Way): void {
  const kept: KeptWay = { madeBy: version, text: digest(said.text), name, target, place, shown };
  try {
    makeFolder(join(home, 'ways'));
    writeJson(fileOf(home, said), kept);
  } catch {}
}

const fileOf = (home: string, { word, named }: Said): string =>
  join(home, 'ways', `${digest(JSON.stringify([word, named])).slice(0, 24)}.json`);

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
