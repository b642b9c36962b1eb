import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { api, RequestFailure } from '../api/client.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/notice.tsx';
import { say } from '../parts/toasts.tsx';
import { goTo, jobLink } from '../state/route.ts';
import { emptyForm, type FieldName, type Problems, readForm, type SubmitForm, submitOpen } from '../state/submit.ts';

/** What was typed stays when the dialog is closed by mistake; a submit clears it. */
let draft: SubmitForm = emptyForm;

export function SubmitDialog() {
  if (!submitOpen.value) return null;
  return <OpenDialog />;
}

function OpenDialog() {
  const [form, setForm] = useState(draft);
  const [problems, setProblems] = useState<Problems>({});
  const [failure, setFailure] = useState<RequestFailure | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const element = useRef<HTMLFormElement>(null);

  const close = (): void => {
    submitOpen.value = false;
  };
  const set = (field: FieldName, value: string): void => {
    draft = { ...form, [field]: value };
    setForm(draft);
    if (problems[field] !== undefined) setProblems({ ...problems, [field]: undefined });
  };
  const submit = async (): Promise<void> => {
    const read = readForm(form);
    setProblems(read.problems);
    if (read.body === undefined) {
      const first = Object.keys(form).find((field) => read.problems[field as FieldName] !== undefined);
      const field = element.current?.querySelector<HTMLElement>(`[name=${first}]`);
      field?.closest('details')?.setAttribute('open', '');
      field?.focus();
      return;
    }
    setBusy(true);
    try {
      const job = await api.submit(read.body);
      draft = emptyForm;
      close();
      say(`Submitted ${job.id}`);
      goTo(jobLink(job.id));
    } catch (problem) {
      if (!(problem instanceof RequestFailure)) throw problem;
      setFailure(problem);
      setBusy(false);
    }
  };
  const field: FieldOf = (name) => ({ name, value: form[name], problem: problems[name], onInput: set });

  return (
    <Dialog title="New job" onClose={close} wide>
      <form
        ref={element}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div class="dialog-body form">
          <Fields field={field} />
          {failure !== undefined && <Failure failure={failure} />}
        </div>
        <footer class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button button-main" disabled={busy}>
            {busy ? 'Submitting…' : 'Submit job'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

type FieldOf = (name: FieldName) => Pick<FieldProps, 'name' | 'value' | 'problem' | 'onInput'>;

function Fields({ field }: { field: FieldOf }) {
  return (
    <>
      <Field
        {...field('entrypoint')}
        label="Command"
        lines={3}
        mono
        autofocus
        help="Run by /bin/sh -c on a node with free resources."
      />
      <div class="form-row">
        <Field {...field('cpu')} label="CPUs" numeric />
        <Field {...field('gpu')} label="GPUs" numeric />
        <Field {...field('memory')} label="Memory, GiB" numeric />
        <Field {...field('priority')} label="Priority" numeric placeholder="0" />
      </div>
      <Field {...field('id')} label="Id" mono placeholder="generated if empty" />
      <details>
        <summary>Environment</summary>
        <div class="form">
          <Field
            {...field('env')}
            label="Environment variables"
            lines={3}
            mono
            placeholder="NAME=VALUE, one per line"
          />
          <Field {...field('workingDir')} label="Working directory" mono placeholder="https://…/code.zip" />
          <Field {...field('pip')} label="Python packages" lines={2} mono placeholder="one per line" />
          <Field {...field('custom')} label="Custom resources" lines={2} mono placeholder="NAME=AMOUNT, one per line" />
        </div>
      </details>
      <details>
        <summary>Retries, limits and schedule</summary>
        <div class="form">
          <div class="form-row">
            <Field {...field('retries')} label="Retries after a failure" numeric placeholder="0" />
            <Field {...field('timeLimit')} label="Time limit, minutes" numeric placeholder="none" />
          </div>
          <Field {...field('dependsOn')} label="After these jobs" mono placeholder="comma-separated ids" />
          <Field {...field('cron')} label="Schedule" mono placeholder="0 3 * * *" />
        </div>
      </details>
    </>
  );
}

interface FieldProps {
  readonly name: FieldName;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onInput: (name: FieldName, value: string) => void;
  readonly label: string;
  readonly help?: ComponentChildren;
  readonly placeholder?: string;
  /** More than one makes it a text area. */
  readonly lines?: number;
  readonly mono?: boolean;
  readonly numeric?: boolean;
  readonly autofocus?: boolean;
}

function Field(props: FieldProps) {
  const id = useId();
  const shared = {
    id,
    name: props.name,
    value: props.value,
    class: props.mono === true ? 'mono' : '',
    placeholder: props.placeholder ?? '',
    spellcheck: false,
    autocomplete: 'off',
    autofocus: props.autofocus ?? false,
    'aria-invalid': props.problem !== undefined,
    'aria-describedby': `${id}-help`,
    onInput: (input: { currentTarget: { value: string } }) => props.onInput(props.name, input.currentTarget.value),
  } as const;
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {props.label}
      </label>
      {props.lines === undefined ? (
        <input type="text" inputMode={props.numeric === true ? 'decimal' : 'text'} {...shared} />
      ) : (
        <textarea rows={props.lines} {...shared} />
      )}
      <p id={`${id}-help`} class={props.problem === undefined ? 'field-help' : 'field-problem'}>
        {props.problem ?? props.help}
      </p>
    </div>
  );
}
