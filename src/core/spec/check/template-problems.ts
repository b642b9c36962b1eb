import { error, warning } from '../problems.ts';

/** What is left of a template in a file. */
export const templateProblems = {
  Placeholder: error<{ placeholder: string; what: string; rendered?: boolean }>('PLACEHOLDER', {
    title: 'a placeholder that was not filled in',
    meaning:
      'The value is still a placeholder from a template or an example, such as XXX-CUSTOMIZE-THIS-XXX, {{ name }} or <project-id>.',
    hint: 'replace it with the real value; `${env:NAME}` reads it from the environment or from .env',
    message: (e) => `placeholder ${e.placeholder} ${e.what === '' ? 'is' : `in '${e.what}' is`} not filled in`,
    advise: (e) => (e.rendered ? 'render the template to fill it in' : undefined),
  }),
  Template: error<{ count: number; detail: string }>('TEMPLATE', {
    title: 'a template that was not rendered',
    meaning: 'The file contains template syntax and cannot be read as YAML. Each placeholder is listed.',
    hint: 'render the template first, then check the result',
    message: (e) => `this is an unrendered template with ${e.count} placeholders, not YAML (${e.detail})`,
  }),
  Variable: warning<{ variable: string; what: string; name: string }>('VARIABLE', {
    title: 'a shell variable outside a shell command',
    meaning:
      'Only commands, mounts and run options go through a shell. Here the provider gets the variable as written.',
    hint: 'write `${env:NAME}` to read the value from the environment or from .env',
    message: (e) => `'${e.what}' contains ${e.variable}, which is not expanded here`,
    advise: (e) => `write \${env:${e.name}} to read it from the environment or from .env`,
  }),
  EnvUnset: error<{ name: string; what: string }>('ENV_UNSET', {
    title: 'an environment variable that is not set',
    meaning:
      'The file reads a value from an environment variable that is set neither in the shell nor in the .env next to the file.',
    hint: 'set the variable, or add it to .env',
    message: (e) => `'${e.what}' needs the environment variable ${e.name}, which is not set`,
    advise: (e) => `export ${e.name}=…, or put ${e.name}=… into the .env next to the file`,
  }),
  EnvSyntax: error<{ text: string; what: string }>('ENV_SYNTAX', {
    title: 'an invalid ${env:…}',
    meaning:
      'Between `${env:` and `}` there must be the name of an environment variable: letters, digits and underscores.',
    hint: 'write it as ${env:NAME}',
    message: (e) => `'${e.what}' contains ${e.text}, which does not name an environment variable`,
  }),
};
