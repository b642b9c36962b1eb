import { fileProblems } from '../../core/spec/check/file-problems.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { specErrors } from '../../core/spec/errors.ts';
import type { Problem } from '../../core/spec/problem.ts';
import { report } from '../../core/spec/problems.ts';
import { openCluster, type ParsedClusterFile } from '../../core/spec/read.ts';
import { providers } from '../../providers/table.ts';
import type { Io } from '../command.ts';
import { type OpenedFile, openFile } from './open-file.ts';

export interface LoadedFile extends OpenedFile, ParsedClusterFile {}

/** Opens a file and reads it as a cluster file. What fails is a problem of the file. */
export const loadFile = async (file: string, io: Io): Promise<LoadedFile> => readOpened(await openFile(file, io));

export function readOpened(opened: OpenedFile): LoadedFile {
  const { file, bytes, env, failed } = opened;
  if (failed === undefined) return { ...opened, ...openCluster(file, bytes, env, providers) };
  const spot = { at: { line: 1, column: 1 }, path: [] };
  return { ...opened, problems: [report(fileProblems.Unreadable, spot, { why: failed })] };
}

export const isError = (problem: Problem): boolean => problem.severity === 'error';

/** 2 when a file could not be opened, 1 when any file has errors, else 0. */
export function exitCodeOf(files: readonly { readonly opened: boolean; readonly fine: boolean }[]): number {
  if (files.some((file) => !file.opened)) return 2;
  return files.every((file) => file.fine) ? 0 : 1;
}

/** The spec of a file for a command that works with it; throws when the file cannot be used as it is. */
export async function loadSpecFile(name: string, io: Io): Promise<ClusterSpec> {
  return usable(await loadFile(name, io), (first) => `line ${first.at.line}: ${first.message}`).spec;
}

const isInNodeConfig = ({ path: [top, , inType] }: Problem): boolean =>
  top === 'head_node' || top === 'worker_nodes' || (top === 'available_node_types' && inType === 'node_config');

/** Throws when a file cannot be used as it is. */
export function usable(
  loaded: LoadedFile,
  words: (first: Problem) => string = ({ at, message }) => `${at.line}:${at.column}: ${message}`,
): LoadedFile & Required<Pick<LoadedFile, 'spec' | 'source'>> {
  const { file, spec, source, problems, failed } = loaded;
  const errors = problems.filter(isError);
  const [first] = errors;
  if (spec !== undefined && source !== undefined && first === undefined) return { ...loaded, spec, source };
  const kind = first !== undefined && isInNodeConfig(first) ? 'RefusedNodeConfig' : 'Refused';
  throw specErrors[kind]({
    file,
    errors: errors.length,
    first: failed ?? (first === undefined ? '' : words(first)),
    hint: first?.hint,
  });
}
