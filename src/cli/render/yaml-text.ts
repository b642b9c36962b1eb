/** A value of JSON as YAML to read. */
export function yamlText(value: unknown, depth: number): string {
  const indent = '  '.repeat(depth);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return value
      .map((entry) => `${indent}- ${isNested(entry) ? yamlText(entry, depth + 1).trimStart() : scalarText(entry)}`)
      .join('\n');
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
    if (entries.length === 0) return '{}';
    return entries
      .map(
        ([key, entry]) =>
          `${indent}${scalarText(key)}:${isNested(entry) ? `\n${yamlText(entry, depth + 1)}` : ` ${scalarText(entry)}`}`,
      )
      .join('\n');
  }
  return scalarText(value);
}

const isNested = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

function scalarText(value: unknown): string {
  if (Array.isArray(value)) return '[]';
  if (typeof value === 'object' && value !== null) return '{}';
  if (typeof value !== 'string') return String(value);
  const plain =
    /^[A-Za-z_/~.$(-][^\n"'#]*$/.test(value) &&
    !/: |:$| $|^- |^-+$/.test(value) &&
    // Texts that would be read as numbers.
    !/^[-.]+(?:\d|inf|nan)/i.test(value) &&
    !/^(true|false|yes|no|on|off|null|y|n|~)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}
