import { dig, isMap, type Json } from '../kube/object.ts';

/** Where Ray fetches code from; `conda`, `pip` and `uv` are understood and have no use here. */
const schemes = new Set(['gcs', 'conda', 'pip', 'uv', 'http', 'https', 's3', 'gs', 'azure', 'abfss', 'file', 'local']);

/** Why the code of a runtime environment cannot be fetched by the nodes of a cluster: Serve takes addresses only. */
export function runtimeEnvProblem(value: Json): string | undefined {
  if (!isMap(value)) return 'must be a map';
  const modules = dig(value, 'py_modules') ?? [];
  if (!Array.isArray(modules)) return 'py_modules of a runtime_env must be a list';
  const workingDir = dig(value, 'working_dir');
  const all = workingDir === undefined ? (modules as readonly Json[]) : [...(modules as readonly Json[]), workingDir];
  return all.map(addressProblem).find((problem) => problem !== undefined);
}

/** Null is nothing to fetch. */
function addressProblem(address: Json): string | undefined {
  if (address === null) return undefined;
  if (typeof address !== 'string') return `working_dir and py_modules are addresses, not ${JSON.stringify(address)}`;
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(address) ?? [];
  if (scheme === undefined)
    return `'${address}' is a path: a deployed application fetches its code by an address (https, s3, gs, file:///shared/app.zip)`;
  if (!schemes.has(scheme.toLowerCase())) return `Ray fetches no code from '${scheme}:' (${address})`;
  if (!/^local$/i.test(scheme)) return undefined;
  const path = address.replace(/^local:\/\//i, '').replace(/^\/(?=[a-z]:[\\/])/i, '');
  if (!/^local:\/\//i.test(address) || !/^(?:\/|[a-z]:[\\/])/i.test(path))
    return `'${address}' must be local:// and an absolute path`;
  return /\.(?:zip|whl|tar\.gz|tgz|jar|tar\.bz2|tar\.xz|tar)$/i.test(path)
    ? `'${address}' must be a folder, not an archive`
    : undefined;
}
