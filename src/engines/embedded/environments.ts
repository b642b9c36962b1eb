import type { EnvironmentSupport } from '../runner.ts';

/** What agents can set up; they have no container, conda or profiler, and fetch nothing themselves. */
export const embeddedEnvironments: EnvironmentSupport = new Map<string, readonly string[]>([
  ['env_vars', []],
  ['working_dir', []],
  ['py_modules', []],
  ['pip', ['packages', 'pip_check']],
  ['uv', ['packages', 'uv_check']],
  // Setup begins at once in any case, and has a log of its own.
  ['config', ['setup_timeout_seconds', 'eager_install', 'log_files']],
]);
