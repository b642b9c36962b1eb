import type { Finding } from '../../../core/finding.ts';
import { manifestErrors } from '../../../core/kube/errors.ts';
import { type Manifest, readManifests } from '../../../core/kube/manifest.ts';
import { checkManifest } from '../../../core/kube/rules/rules.ts';
import type { Io } from '../../command.ts';
import { openFile } from '../../shared/open-file.ts';
import { findingsText } from '../serve/open-config.ts';

/** Reads files with manifests and prints what is wrong with them; throws where something is that keeps them from use. */
export async function openManifests(
  files: readonly string[],
  io: Io,
  check = checkManifest,
): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  const findings: Finding[] = [];
  for (const file of files) {
    const { bytes, failed } = await openFile(file, io);
    if (failed !== undefined) throw manifestErrors.Unreadable({ file, why: failed });
    const read = readManifests(file, new TextDecoder().decode(bytes));
    if (read.manifests.length === 0 && read.findings.length === 0) throw manifestErrors.Empty({ file });
    manifests.push(...read.manifests);
    findings.push(...read.findings, ...read.manifests.flatMap(check));
  }
  if (findings.length > 0) io.out(io.json ? `${JSON.stringify({ findings })}\n` : findingsText(findings, io));
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw manifestErrors.Refused({ files: [...new Set(errors.map(({ file }) => file))], errors: errors.length });
  return manifests;
}
