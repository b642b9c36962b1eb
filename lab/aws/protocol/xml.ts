/** Answers of the `ec2` and `query` protocols. */
import type { CloudError } from '../../cloud/errors.ts';
import type { Model, Operation, Shape } from '../models.ts';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no way to write them.
  text.replace(/[&<>"]/g, (found) => escapes[found]!).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '');
const element = (name: string, content: string): string => `<${name}>${content}</${name}>`;
const head = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Throws for a member that the model does not have: what is answered is held to it as what is asked. */
export function writeXml(model: Model, operation: Operation, body: unknown, id: string): string {
  const { output, name } = operation;
  const { protocol, xmlNamespace } = model.metadata;
  const content = output ? members(model, model.shapes[output.shape]!, body as object, name) : '';
  const open = `<${name}Response xmlns="${xmlNamespace}${protocol === 'ec2' ? '/' : ''}">`;
  const inside =
    protocol === 'ec2'
      ? element('requestId', id) + content
      : (output?.resultWrapper ? element(output.resultWrapper, content) : content) +
        element('ResponseMetadata', element('RequestId', id));
  return `${head}${open}${inside}</${name}Response>`;
}

export function writeXmlError(model: Model, { code, message, status }: CloudError, id: string): string {
  const said = element('Code', escaped(code)) + element('Message', escaped(message));
  if (model.metadata.protocol === 'ec2')
    return `${head}<Response>${element('Errors', element('Error', said))}${element('RequestID', id)}</Response>`;
  const kind = element('Type', status < 500 ? 'Sender' : 'Receiver');
  const open = `<ErrorResponse xmlns="${model.metadata.xmlNamespace}">`;
  return `${head}${open}${element('Error', kind + said)}${element('RequestId', id)}</ErrorResponse>`;
}

function members(model: Model, shape: Shape, value: object, at: string): string {
  const given = new Map(Object.entries(value));
  const written = Object.entries(shape.members ?? {}).map(([name, member]) => {
    const each: unknown = given.get(name);
    given.delete(name);
    if (each === undefined || each === null) return '';
    const wire = member.locationName ?? name;
    const below = model.shapes[member.shape]!;
    if (below.type === 'list' && (below.flattened || member.flattened))
      return (each as unknown[])
        .map((item) => element(below.member!.locationName ?? wire, content(model, below.member!.shape, item, at)))
        .join('');
    return element(wire, content(model, member.shape, each, `${at}.${name}`));
  });
  for (const [name, each] of given) if (each !== undefined) throw new Error(`the model has no ${at}.${name}`);
  return written.join('');
}

function content(model: Model, name: string, value: unknown, at: string): string {
  const shape = model.shapes[name]!;
  switch (shape.type) {
    case 'structure':
      return members(model, shape, value as object, at);
    case 'list': {
      const item = shape.member!.locationName ?? 'member';
      return (value as unknown[]).map((each) => element(item, content(model, shape.member!.shape, each, at))).join('');
    }
    case 'map':
      return Object.entries(value as object)
        .map(([key, each]) =>
          element(
            'entry',
            element(shape.key!.locationName ?? 'key', escaped(key)) +
              element(shape.value!.locationName ?? 'value', content(model, shape.value!.shape, each, at)),
          ),
        )
        .join('');
    case 'timestamp':
      return (value as Date).toISOString();
    case 'blob':
      return Buffer.from(value as Uint8Array).toString('base64');
    default:
      return escaped(String(value));
  }
}
