import { accessSync, constants, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { EventSink } from '../../base/events.ts';
import { writeDurably } from '../../base/files/durable.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';
import { type ShimRequest, shimMark, shimText } from './shim-text.ts';

export interface Shim {
  readonly file: string;
  /** The ray that gets everything else; absent: there is none. */
  readonly real?: string;
}

/** Puts a `ray` into the folder, in place of an earlier one of Manta's. Says where PATH will not lead to it. */
export function installShim(
  folder: string,
  request: ShimRequest & { readonly path: string; readonly events: EventSink },
): Shim {
  const file = join(folder, 'ray');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw launcherErrors.ShimNoFolder({ folder, problem: 'no such folder' });
  if (holdsShim(file) === false) throw launcherErrors.ShimNotOurs({ file });
  try {
    writeDurably(file, shimText(request), { mode: 0o755 });
  } catch (error) {
    throw launcherErrors.ShimNoFolder({ folder, problem: (error as Error).message }, error);
  }
  return { file, ...lookAlong(request.path, folder, file, request.events) };
}

/** False when there was none. */
export function removeShim(folder: string): boolean {
  const file = join(folder, 'ray');
  const ours = holdsShim(file);
  if (ours === false) throw launcherErrors.ShimNotOurs({ file });
  if (ours === undefined) return false;
  try {
    rmSync(file);
  } catch (error) {
    throw launcherErrors.ShimNoFolder({ folder, problem: (error as Error).message }, error);
  }
  return true;
}

/** Whether the file is a shim; undefined if it does not exist. */
function holdsShim(file: string): boolean | undefined {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').split('\n', 2)[1] === shimMark;
  } catch {
    return false;
  }
}

/** Follows PATH as a shell does, to the shim and to the real ray behind it. */
function lookAlong(path: string, folder: string, file: string, events: EventSink): { real?: string } {
  const rays = path
    .split(delimiter)
    .map((each) => join(resolve(each || '.'), 'ray'))
    .filter(isProgram);
  const real = rays.find((ray) => holdsShim(ray) !== true);
  const own = rays.findIndex((ray) => realpathSync(ray) === realpathSync(file));
  if (own < 0) events.emit(launcherEvents.shimNotOnPath, { folder });
  else if (real !== undefined && rays.indexOf(real) < own) events.emit(launcherEvents.shimShadowed, { file, by: real });
  if (real === undefined) events.emit(launcherEvents.shimNoRealRay, {});
  return real === undefined ? {} : { real };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
