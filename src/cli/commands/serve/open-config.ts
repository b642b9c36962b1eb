import type { Finding } from '../../../core/finding.ts';
import { readServeConfig, type ServeConfig } from '../../../core/serve/config.ts';
import { serveErrors } from '../../../core/serve/errors.ts';
import type { Io } from '../../command.ts';
import { printable } from '../../render/renderer.ts';
import { styleFor } from '../../render/style.ts';
import { openFile } from '../../shared/open-file.ts';

/** A config that Serve takes, and its text for KubeRay, which reads YAML by other rules. */
export interface OpenedConfig extends ServeConfig {
  readonly text: string;
}

/** Reads a Serve config as Ray does and prints what is wrong with it; throws where Serve would refuse it. */
export async function openServeConfig(file: string, io: Io): Promise<OpenedConfig> {
  const { bytes, failed } = await openFile(file, io);
  if (failed !== undefined) throw serveErrors.Unreadable({ file, why: failed });
  const text = new TextDecoder().decode(bytes);
  const { config, findings } = readServeConfig(text, 'python', { file });
  if (findings.length > 0) io.out(io.json ? `${JSON.stringify({ findings })}\n` : findingsText(findings, io));
  if (config === undefined)
    throw serveErrors.BadConfig({ file, errors: findings.filter(({ severity }) => severity === 'error').length });
  const asKubeRay = readServeConfig(text, 'operator', { file }).config?.value;
  const isSame = JSON.stringify(asKubeRay) === JSON.stringify(config.value);
  // JSON means the same to everyone.
  return { ...config, text: isSame ? text : `${JSON.stringify(config.value, null, 2)}\n` };
}

export function findingsText(findings: readonly Finding[], io: Io): string {
  const style = styleFor(io.color);
  return findings
    .map(({ severity, file, at, says, next }) => {
      const word = severity === 'error' ? style.red('error') : style.yellow('warning');
      return `${file}:${at.line}:${at.column}: ${word}: ${printable(says)}\n  ${printable(next)}\n`;
    })
    .join('');
}
