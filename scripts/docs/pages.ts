import { openapiDocument } from '../../src/api/openapi.ts';
import type { Role } from '../../src/api/route.ts';
import type { Command } from '../../src/cli/command.ts';
import { commands, groups } from '../../src/cli/commands.ts';
import { globalOptions } from '../../src/cli/global-options.ts';
import { argumentUsage, optionSummary, optionUsage, usageOf } from '../../src/cli/help.ts';
import { typed } from '../../src/cli/tree.ts';
import { keyReference } from '../../src/core/spec/keys/reference.ts';
import { providers, runnable } from '../../src/providers/table.ts';
import { declaredErrors, declaredEvents, declaredProblems } from './declared.ts';
import { exitCodes } from './exit-codes.ts';
import { declaredMetrics } from './metrics.ts';

/** The generated part of each reference page, by path. */
export async function generatedParts(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/commands.md', commandsPart()],
    ['docs/errors.md', await errorsPart()],
    ['docs/events.md', await eventsPart()],
    ['docs/exit-codes.md', exitCodesPart()],
    ['docs/api.md', apiPart()],
    ['docs/metrics.md', metricsPart()],
    ['docs/coming-from-ray.md', ignoredOptionsPart()],
    ['docs/cluster-yaml.md', keyReference(providers.keys)],
    ['docs/providers.md', providersPart()],
  ]);
}

const begin = '<!-- made from the code by `npm run docs`; changes here are lost -->';
const end = '<!-- end of what is made from the code -->';

/** The page with its generated part replaced. */
export function withPart(page: string, part: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no part between\n${begin}\nand\n${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${part.trim()}\n\n${page.slice(to)}`;
}

function commandsPart(): string {
  const shown = commands.filter(({ hidden }) => hidden !== true);
  const hidden = commands.filter((command) => command.hidden === true);
  return [
    '## Global options',
    table(
      ['option', 'meaning'],
      globalOptions.map((option) => [code(optionUsage(option)), cell(option.summary)]),
    ),
    ...shown.map(commandPart),
    ...hidden.map(commandPart),
  ].join('\n\n');
}

function commandPart(command: Command): string {
  const group = groups[command.path[0] ?? ''];
  const options = command.options.map((option) => [code(optionUsage(option)), cell(optionSummary(option))]);
  const args = command.args.map((argument) => [code(argumentUsage(argument)), cell(argument.summary)]);
  return [
    `## ${typed(command.path)}`,
    `${sentence(command.summary)}${command.hidden === true ? ' Not shown in `manta --help`.' : ''}${group === undefined ? '' : ` Part of \`manta ${command.path[0]}\`: ${group}.`}`,
    `    ${usageOf(command)}`,
    ...(command.description === undefined ? [] : [described(command.description)]),
    ...(args.length === 0 ? [] : [table(['argument', 'meaning'], args)]),
    ...(options.length === 0 ? [] : [table(['option', 'meaning'], options)]),
    ...(command.examples === undefined ? [] : [['```sh', ...command.examples, '```'].join('\n')]),
  ].join('\n\n');
}

/** Lines that begin with a space are meant as they stand. */
function described(text: string): string {
  const parts: string[] = [];
  let fixed = false;
  for (const line of text.split('\n')) {
    const isFixed = line.startsWith(' ');
    if (isFixed !== fixed) parts.push(isFixed ? '\n```text' : '```\n');
    parts.push(line);
    fixed = isFixed;
  }
  if (fixed) parts.push('```');
  return parts.join('\n');
}

async function errorsPart(): Promise<string> {
  const errors = await declaredErrors();
  const problems = await declaredProblems();
  return [
    '## Errors that end a command',
    table(
      ['code', 'exit', 'message', 'what to do'],
      errors.map(({ code: name, exit, message, hint }) => [code(name), String(exit), cell(message), cell(hint ?? '')]),
    ),
    '## Problems of a cluster file',
    table(
      ['code', 'severity', 'what is wrong', 'what it means', 'what to do'],
      problems.map(({ code: name, severity, title, meaning, hint }) => [
        code(name),
        severity,
        cell(title),
        cell(meaning),
        cell(hint),
      ]),
    ),
  ].join('\n\n');
}

async function eventsPart(): Promise<string> {
  const events = await declaredEvents();
  return table(
    ['code', 'level', 'text'],
    events.map(({ code: name, level, text }) => [code(name), level, cell(text)]),
  );
}

function exitCodesPart(): string {
  return table(
    ['exit code', 'meaning'],
    Object.entries(exitCodes).map(([exit, meaning]) => [exit, cell(meaning)]),
  );
}

function apiPart(): string {
  type Operation = {
    readonly 'x-manta-role': Role;
    readonly summary: string;
    readonly parameters?: readonly { name: string; in: string; description?: string }[];
  };
  const rows = Object.entries(openapiDocument('').paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { summary, parameters = [], 'x-manta-role': role } = operation as Operation;
      const query = parameters.filter((each) => each.in === 'query');
      const given = query.map(({ name, description = '' }) => `${code(name)} ${cell(description)}`).join('<br>');
      return [code(`${method.toUpperCase()} ${path}`), role, cell(summary), given];
    }),
  );
  return table(['route', 'who', 'what for', 'parameters'], rows);
}

function metricsPart(): string {
  return table(
    ['metric', 'type', 'labels', 'meaning'],
    declaredMetrics().map(({ name, type, labels, help }) => [
      code(name),
      type,
      labels.map(code).join(', '),
      cell(help.replace(/\.$/, '')),
    ]),
  );
}

/** Options that are accepted for compatibility with `ray`, each with the reason why it has no effect. */
function ignoredOptionsPart(): string {
  const rows = [...globalOptions, ...commands.flatMap(({ options }) => options)].flatMap(({ name, ignored }) =>
    ignored === undefined ? [] : [`| ${code(`--${name}`)} | ${ignored} |`],
  );
  return ['| option | why |', '| --- | --- |', ...new Set(rows)].join('\n');
}

function providersPart(): string {
  const rows = runnable.map(({ name, instances, offers }) => [
    code(name),
    cell(instances),
    (offers?.markets ?? ['on-demand']).join(', '),
    offers?.zones === true ? 'yes' : 'no',
  ]);
  const runs = new Set(runnable.map(({ name }) => name));
  const others = providers.names.filter((name) => !runs.has(name)).map(code);
  return [
    table(['provider', 'instances are', 'markets', 'zones'], rows),
    `Manta also reads, checks and converts cluster files for these providers, but cannot run them yet: ${others.join(', ')}.`,
  ].join('\n\n');
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;
const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\n', '<br>');
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
