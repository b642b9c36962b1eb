import type { CloudError } from '../../cloud/errors.ts';
import type { Shape } from '../models.ts';

/** How a protocol says what is wrong with a request. */
export interface Complaints {
  readonly unknown: (path: string) => CloudError;
  readonly missing: (path: string) => CloudError;
  readonly wrong: (path: string, value: string, wanted: string) => CloudError;
}

/** Names of types of machines change faster than models; whoever sells them decides. */
const open = /InstanceType/;

/** A scalar out of its text. */
export function readScalar(name: string, shape: Shape, text: string, path: string, say: Complaints): unknown {
  const wrong = (wanted: string): CloudError => say.wrong(path, text, wanted);
  switch (shape.type) {
    case 'integer':
    case 'long':
      if (!/^-?\d{1,18}$/.test(text)) throw wrong('an integer');
      return bounded(shape, Number(text), path, text, say);
    case 'float':
    case 'double':
      if (text.trim() === '' || !Number.isFinite(Number(text))) throw wrong('a number');
      return Number(text);
    case 'boolean':
      if (!/^(?:true|false)$/i.test(text)) throw wrong('true or false');
      return text.toLowerCase() === 'true';
    case 'timestamp': {
      const at = /^\d+(?:\.\d+)?$/.test(text) ? new Date(1000 * Number(text)) : new Date(text);
      if (Number.isNaN(at.getTime())) throw wrong('a time');
      return at;
    }
    case 'blob':
      return Buffer.from(text, 'base64');
    case 'string':
      if (shape.enum && !open.test(name) && !shape.enum.includes(text)) throw wrong(`one of ${shape.enum.join(', ')}`);
      return sized(shape, text, path, say);
    default:
      throw wrong(`a ${shape.type}`);
  }
}

function bounded({ min, max }: Shape, number: number, path: string, text: string, say: Complaints): number {
  if (min !== undefined && number < min) throw say.wrong(path, text, `at least ${min}`);
  if (max !== undefined && number > max) throw say.wrong(path, text, `at most ${max}`);
  return number;
}

function sized({ min, max, pattern }: Shape, text: string, path: string, say: Complaints): string {
  if (min !== undefined && text.length < min) throw say.wrong(path, text, `${min} or more characters long`);
  if (max !== undefined && text.length > max) throw say.wrong(path, text, `${max} or fewer characters long`);
  if (pattern !== undefined && !matches(pattern, text)) throw say.wrong(path, text, `like ${pattern}`);
  return text;
}

const patterns = new Map<string, RegExp | undefined>();

/** Models write patterns in another language of regular expressions; one that is none in this is not checked. */
function matches(pattern: string, text: string): boolean {
  if (!patterns.has(pattern)) {
    try {
      patterns.set(pattern, new RegExp(`^(?:${pattern})$`, 'su'));
    } catch {
      patterns.set(pattern, undefined);
    }
  }
  return patterns.get(pattern)?.test(text) ?? true;
}
