import { error, warning } from '../problems.ts';

/** What is left of a template in a file. */
export const templateProblems = {
  Placeholder: error<{ placeholder: string; what: string; rendered?: boolean }>('PLACEHOLDER', {
    title: 'a placeholder that was not filled in',
    meaning:
      'The value is still the placeholder of a template or of an example, such as XXX-CUSTOMIZE-THIS-XXX, {{ name }} or <project-id>.',
    hint: 'put the real value in its place; `${env:NAME}` takes it from the environment or from .env',
    message: (e) => `placeholder ${e.placeholder} ${e.what === '' ? 'is' : `in '${e.what}' is`} not filled in`,
    advise: (e) => (e.rendered ? 'rendering the template fills it in' : undefined),
  }),
  Template: error<{ count: number; detail: string }>('TEMPLATE', {
    title: 'a template that is not YAML until it is rendered',
    meaning: 'The file holds the marks of a template engine and cannot be read as it is. Each placeholder is listed.',
    hint: 'render the template first, and check the result',
    message: (e) => `this is a template with ${e.count} placeholders, not YAML yet (${e.detail})`,
  }),
  Variable: warning<{ variable: string; what: string; name: string }>('VARIABLE', {
    title: 'a shell variable where no shell reads it',
    meaning:
      'Only commands, mounts and run options go through a shell. Here the variable reaches the provider as it is written.',
    hint: 'write `${env:NAME}` to take the value from the environment or from .env',
    message: (e) => `'${e.what}' holds ${e.variable}, which no shell will fill in here`,
    advise: (e) => `write \${env:${e.name}} to take it from the environment or from .env`,
  }),
  EnvUnset: error<{ name: string; what: string }>('ENV_UNSET', {
    title: 'an environment variable that is not set',
    meaning:
      'The file takes a value from an environment variable that is neither set in the shell nor in the .env beside the file.',
    hint: 'set the variable, or add it to .env',
    message: (e) => `'${e.what}' needs the environment variable ${e.name}, which is not set`,
    advise: (e) => `export ${e.name}=…, or put ${e.name}=… into the .env beside the file`,
  }),
  EnvSyntax: error<{ text: string; what: string }>('ENV_SYNTAX', {
    title: 'an unreadable ${env:…}',
    meaning: 'Between `${env:` and `}` stands the name of an environment variable: letters, digits and underscores.',
    hint: 'write it as ${env:NAME}',
    message: (e) => `'${e.what}' holds ${e.text}, which names no environment variable`,
  }),
};
