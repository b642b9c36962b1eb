import { signal } from '@preact/signals';
import type { SubmitBody } from '../../api/types.ts';

/** What is typed into the form, as typed. */
export interface SubmitForm {
  readonly entrypoint: string;
  readonly id: string;
  readonly cpu: string;
  readonly gpu: string;
  readonly memory: string;
  readonly custom: string;
  readonly env: string;
  readonly workingDir: string;
  readonly pip: string;
  readonly priority: string;
  readonly retries: string;
  readonly timeLimit: string;
  readonly dependsOn: string;
  readonly cron: string;
}

export type FieldName = keyof SubmitForm;
export type Problems = Partial<Record<FieldName, string>>;

export const emptyForm: SubmitForm = {
  entrypoint: '',
  id: '',
  cpu: '1',
  gpu: '',
  memory: '',
  custom: '',
  env: '',
  workingDir: '',
  pip: '',
  priority: '',
  retries: '',
  timeLimit: '',
  dependsOn: '',
  cron: '',
};

export const submitOpen = signal(false);

export function openSubmit(): void {
  submitOpen.value = true;
}

const gibibyte = 1024 ** 3;

/** The request that a form means, or what is wrong with it, field by field. */
export function readForm(form: SubmitForm): { readonly body?: SubmitBody; readonly problems: Problems } {
  const problems: Problems = {};
  const number = (field: FieldName, least: number, whole = false): number | undefined => {
    const text = form[field].trim();
    if (text === '') return undefined;
    const value = Number(text);
    if (!Number.isFinite(value) || value < least || (whole && !Number.isInteger(value))) {
      problems[field] =
        `${whole ? 'A whole number' : 'A number'}${Number.isFinite(least) ? ` of at least ${least}` : ''}`;
      return undefined;
    }
    return value;
  };
  const pairs = (field: FieldName): [string, string][] =>
    lines(form[field]).flatMap((line) => {
      const at = line.indexOf('=');
      if (at > 0) return [[line.slice(0, at).trim(), line.slice(at + 1)]];
      problems[field] = `'${line}' is not NAME=VALUE`;
      return [];
    });

  const entrypoint = form.entrypoint.trim();
  if (entrypoint === '') problems.entrypoint = 'Enter a command to run';
  const id = form.id.trim();
  if (id !== '' && !/^[\w.-]{1,200}$/.test(id)) problems.id = 'Letters, digits, dot, dash and underscore only';

  const resources: Record<string, number> = {};
  const put = (name: string, value: number | undefined): void => {
    if (value !== undefined && value !== 0) resources[name] = value;
  };
  put('CPU', number('cpu', 0));
  put('GPU', number('gpu', 0));
  const memory = number('memory', 0);
  put('memory', memory === undefined ? undefined : Math.round(memory * gibibyte));
  for (const [name, text] of pairs('custom')) {
    const value = Number(text);
    if (Number.isFinite(value) && value >= 0 && text.trim() !== '') put(name, value);
    else problems.custom = `'${text}' is not an amount of ${name}`;
  }

  const environment: Record<string, unknown> = {};
  const env = pairs('env');
  if (env.length > 0) environment['env_vars'] = Object.fromEntries(env);
  const workingDir = form.workingDir.trim();
  if (workingDir !== '') {
    environment['working_dir'] = workingDir;
    if (!/^https:\/\/\S+\.zip$|^gcs:\/\/\S+\.zip$/.test(workingDir)) {
      problems.workingDir = 'The https:// URL of a .zip; use manta job submit to upload a folder';
    }
  }
  const pip = lines(form.pip);
  if (pip.length > 0) environment['pip'] = pip;

  const priority = number('priority', Number.NEGATIVE_INFINITY, true);
  const retries = number('retries', 0, true);
  const timeLimit = number('timeLimit', 1);
  const dependsOn = form.dependsOn.split(/[\s,]+/).filter((part) => part !== '');
  const cron = form.cron.trim();
  if (cron !== '' && cron.split(/\s+/).length !== 5) problems.cron = 'Five fields: minute hour day month weekday';
  if (Object.keys(problems).length > 0) return { problems };
  return {
    problems,
    body: {
      entrypoint,
      ...(id === '' ? {} : { id }),
      ...(Object.keys(environment).length === 0 ? {} : { runtime_env: environment }),
      resources,
      ...(priority === undefined ? {} : { priority }),
      ...(retries === undefined ? {} : { retries: { failed: retries } }),
      ...(timeLimit === undefined ? {} : { time_limit_s: timeLimit * 60 }),
      ...(dependsOn.length === 0 ? {} : { depends_on: dependsOn }),
      ...(cron === '' ? {} : { cron }),
    },
  };
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
