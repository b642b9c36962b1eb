import { type CallExpression, type NewExpression, parseSync, Visitor } from 'oxc-parser';

/** A regular expression as it stands in a file. */
export interface Expression {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** Every regular expression that is written down in a file, and the places where one is made from other text. */
export function expressionsIn(file: string, text: string): { literals: Expression[]; made: string[] } {
  const literals: Expression[] = [];
  const made: string[] = [];
  const placeOf = (offset: number): string => `${file}:${text.slice(0, offset).split('\n').length}`;
  const make = (node: NewExpression | CallExpression): void => {
    if (node.callee.type !== 'Identifier' || node.callee.name !== 'RegExp') return;
    const [first] = node.arguments;
    if (!(first && 'regex' in first)) made.push(placeOf(node.start));
  };
  new Visitor({
    Literal(node) {
      if ('regex' in node)
        literals.push({ place: placeOf(node.start), source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression: make,
    CallExpression: make,
  }).visit(parseSync(file, text).program);
  return { literals, made };
}
