import { outdatedStart } from '../../core/spec/check/outdated-start.ts';
import type { GivenFile } from '../../state/load-spec.ts';
import { launcherErrors } from '../errors.ts';
import { placed } from './place-in-file.ts';

/** Throws for a file whose Ray no machine could start: it can be planned, but machines for it would cost money for nothing. */
export function refuseOutdatedStart(file: GivenFile): void {
  const found = outdatedStart(file.source.value);
  if (found !== undefined) throw placed(file, launcherErrors.OutdatedStart(found));
}

/** What a plan says of such a file. */
export function outdatedStartWarnings(file: GivenFile): readonly string[] {
  const found = outdatedStart(file.source.value);
  return found === undefined ? [] : [placed(file, launcherErrors.OutdatedStart(found)).message];
}
