import type { Fields } from '../ray-fields.ts';

const numberKey = /(?<!\\)"(0|[1-9]\d*)"(?=\s*:)/g;

/**
 * Names of the node types in the order of the text. JavaScript moves names that are whole numbers to the front of an
 * object; Ray keeps the order and breaks ties by it. Undefined where the parsed value keeps the order anyway.
 */
export function nodeTypeOrder(text: string, value: unknown): string[] | undefined {
  const names = Object.keys(configsOf(value) ?? {});
  if (!names.some((name) => /^(0|[1-9]\d*)$/.test(name))) return undefined;
  const marked = configsOf(JSON.parse(text.replace(numberKey, '"#$1"')));
  return Object.keys(marked ?? {}).map((name) => (/^#(0|[1-9]\d*)$/.test(name) ? name.slice(1) : name));
}

function configsOf(value: unknown): Fields | undefined {
  let fields = value as Fields | undefined;
  if (isObject(fields?.['in'])) fields = fields['in'];
  if (Array.isArray(fields?.['args'])) fields = fields['args'][0] as Fields | undefined;
  const configs = isObject(fields) ? fields['node_type_configs'] : undefined;
  return isObject(configs) ? configs : undefined;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
