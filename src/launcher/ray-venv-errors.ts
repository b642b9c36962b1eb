import { defineError } from '../base/errors.ts';

/** What can stop a cluster of real Ray on this machine before it is started. */
export const rayVenvErrors = {
  NotRay: defineError<{ python: string; detail: string }>({
    code: 'MANTA_RAY_VENV_NOT_RAY',
    exit: 2,
    message: (e) => `'${e.python}', which MANTA_RAY_PYTHON names, cannot be used: ${e.detail}`,
    hint: () => "name a Python that has 'ray[default]', or leave the variable out",
  }),
  NoPython: defineError<{ version: string }>({
    code: 'MANTA_RAY_VENV_NO_PYTHON',
    exit: 4,
    message: (e) =>
      `Ray ${e.version} needs a Python 3.10 or newer with the module venv, or uv, and this machine has neither`,
    hint: () => "install uv, or Python with venv (Debian: 'apt install python3-venv'), or set MANTA_RAY_PYTHON",
  }),
  NotMade: defineError<{ folder: string; command: string; detail: string }>({
    code: 'MANTA_RAY_VENV_NOT_MADE',
    exit: 4,
    message: (e) => `Ray could not be installed into ${e.folder}: '${e.command}' failed: ${e.detail}`,
    hint: () =>
      "set right what it says and run this again, or set MANTA_RAY_PYTHON to a Python that has 'ray[default]'",
  }),
  Busy: defineError<{ folder: string; pid: number }>({
    code: 'MANTA_RAY_VENV_BUSY',
    exit: 4,
    message: (e) => `another command (pid ${e.pid}) is installing Ray into ${e.folder}`,
    hint: () => 'wait for it to end, then run this again',
  }),
  Declined: defineError<{ version: string }>({
    code: 'MANTA_RAY_VENV_DECLINED',
    exit: 1,
    message: (e) => `there is no Ray on this machine, and Ray ${e.version} was not to be installed`,
    hint: () => "set MANTA_RAY_PYTHON to a Python that has 'ray[default]', or leave out '--engine ray'",
  }),
  EngineFixed: defineError<{ name: string; has: string; wanted: string }>({
    code: 'MANTA_RAY_VENV_ENGINE_FIXED',
    exit: 4,
    message: (e) => `the cluster '${e.name}' runs on the engine '${e.has}' and cannot go over to '${e.wanted}'`,
    hint: (e) => `end it with 'manta down -n ${e.name}' first, or choose another name with -n`,
  }),
  OtherMachines: defineError<{ engine: string }>({
    code: 'MANTA_RAY_VENV_OTHER_MACHINES',
    exit: 2,
    message: (e) => `--engine ${e.engine} is for clusters of this machine; clusters of other machines always run Ray`,
    hint: () => "leave it out, or write 'type: process' as the provider to run the node types here",
  }),
};
