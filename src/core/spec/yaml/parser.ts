import { implicitTag } from './implicit.ts';
import { type MappingNode, type Node, type SequenceNode, STANDARD, type Use } from './node.ts';
import { YamlError, yamlProblems } from './problems.ts';
import { Scanner } from './scanner.ts';
import { type Token, type TokenKind, tokenNames } from './token.ts';

/** Collections inside collections. */
export const DEEPEST = 100;

const indentationHint = 'indent it like the lines it belongs with';
const defaultHandles: ReadonlyMap<string, string> = new Map([
  ['!', '!'],
  ['!!', STANDARD],
]);

/** Anchor and tag of a node, in either order. */
interface Properties {
  readonly anchor: Token | undefined;
  readonly tag: string | undefined;
  readonly start: number;
  readonly end: number;
}

/** What a plain scalar is, and the text that its value is read from. */
export type Resolve = (text: string) => { readonly tag: string; readonly text: string };

const asPython: Resolve = (text) => ({ tag: implicitTag(text), text });

/** The root node of the one document in a text; undefined when there is none. */
export function parseDocument(text: string, resolve: Resolve = asPython): Node | undefined {
  return new Parser(text, resolve).document();
}

class Parser {
  readonly #resolve: Resolve;
  readonly #scanner: Scanner;
  readonly #anchors = new Map<string, Node>();
  #handles = defaultHandles;
  #depth = 0;

  constructor(text: string, resolve: Resolve) {
    this.#resolve = resolve;
    this.#scanner = new Scanner(text);
  }

  document(): Node | undefined {
    if (this.#at('stream-end')) return undefined;
    const explicit = this.#at('directive', 'document-start');
    if (explicit) this.#documentStart();
    const empty = explicit && this.#at('directive', 'document-start', 'document-end', 'stream-end');
    const root = empty ? this.#empty(this.#scanner.peek().start) : this.#node('block');
    while (this.#take('document-end'));
    if (!this.#at('stream-end')) {
      const { start } = this.#scanner.peek();
      this.#documentStart();
      throw new YamlError(yamlProblems.documents, start, 'a second YAML document starts here');
    }
    return root.node;
  }

  #at(...kinds: readonly TokenKind[]): boolean {
    return kinds.includes(this.#scanner.peek().kind);
  }

  #take(kind: TokenKind): Token | undefined {
    return this.#scanner.peek().kind === kind ? this.#scanner.next() : undefined;
  }

  #expect(kind: TokenKind, message: string, hint?: string): Token {
    const token = this.#take(kind);
    if (token === undefined) throw this.#unexpected(message, hint);
    return token;
  }

  #unexpected(message: string, hint?: string): YamlError {
    const { kind, start } = this.#scanner.peek();
    return new YamlError(yamlProblems.syntax, start, `${message}, found ${tokenNames[kind]}`, hint);
  }

  #documentStart(): void {
    const handles = new Map<string, string>();
    let versioned = false;
    for (let token = this.#take('directive'); token !== undefined; token = this.#take('directive')) {
      const { start, directive } = token;
      if (directive?.name === 'YAML') {
        if (versioned) throw new YamlError(yamlProblems.syntax, start, 'a second %YAML directive');
        if (directive.major !== 1) throw new YamlError(yamlProblems.syntax, start, 'only YAML 1 can be read');
        versioned = true;
      } else if (directive?.name === 'TAG') {
        if (handles.has(directive.handle))
          throw new YamlError(yamlProblems.syntax, start, `a second %TAG for '${directive.handle}'`);
        handles.set(directive.handle, directive.prefix);
      }
    }
    this.#expect('document-start', "expected '---'", 'keep one document in the file');
    this.#handles = new Map([...defaultHandles, ...handles]);
  }

  /** `block` allows collections made by indentation; `indentless` also a list on the column of its key. */
  #node(context: 'flow' | 'block' | 'indentless'): Use {
    const alias = this.#take('alias');
    if (alias !== undefined) return this.#alias(alias);
    const properties = this.#properties();
    const token = this.#scanner.peek();
    const block = context !== 'flow';
    if (token.kind === 'scalar') return this.#scalar(properties, this.#scanner.next());
    if (token.kind === 'sequence-open') return this.#sequence(properties, (node) => this.#flowItems(node));
    if (token.kind === 'mapping-open') return this.#mapping(properties, (node) => this.#flowPairs(node));
    if (token.kind === 'entry' && context === 'indentless')
      return this.#sequence(properties, (node) => this.#indentlessItems(node));
    if (token.kind === 'block-sequence-start' && block)
      return this.#sequence(properties, (node) => this.#blockItems(node));
    if (token.kind === 'block-mapping-start' && block)
      return this.#mapping(properties, (node) => this.#blockPairs(node));
    if (properties.anchor === undefined && properties.tag === undefined) throw this.#unexpected('expected a value');
    return this.#scalar(properties, {
      kind: 'scalar',
      start: properties.end,
      end: properties.end,
      text: '',
      plain: true,
    });
  }

  #alias(token: Token): Use {
    const node = this.#anchors.get(token.text as string);
    if (node === undefined)
      throw new YamlError(yamlProblems.alias, token.start, `no anchor '&${token.text}' above this alias`);
    return { node, start: token.start, end: token.end, alias: true };
  }

  #properties(): Properties {
    const { start } = this.#scanner.peek();
    const before = this.#take('anchor');
    const tag = this.#take('tag');
    const anchor = before ?? (tag && this.#take('anchor'));
    if (anchor !== undefined && this.#anchors.has(anchor.text as string)) {
      throw new YamlError(yamlProblems.anchor, anchor.start, `the anchor '&${anchor.text}' is already defined`);
    }
    const end = Math.max(start, anchor?.end ?? 0, tag?.end ?? 0);
    return { anchor, tag: tag && this.#fullTag(tag), start, end };
  }

  #fullTag(token: Token): string {
    const { handle, suffix } = token.tag as NonNullable<Token['tag']>;
    if (handle === undefined) return suffix;
    const prefix = this.#handles.get(handle);
    if (prefix === undefined)
      throw new YamlError(yamlProblems.tag, token.start, `the tag handle '${handle}' is not defined`);
    return prefix + suffix;
  }

  #scalar({ start, anchor, tag }: Properties, token: Token): Use {
    const text = token.text as string;
    const implicit = tag === '!' || (tag === undefined && token.plain === true);
    const node: Node = {
      kind: 'scalar',
      start,
      end: token.end,
      ...(implicit ? this.#resolve(text) : { tag: tag ?? `${STANDARD}str`, text }),
    };
    if (anchor !== undefined) this.#anchors.set(anchor.text as string, node);
    return written(node);
  }

  #empty(offset: number): Use {
    return written({ kind: 'scalar', start: offset, end: offset, tag: `${STANDARD}null`, text: '' });
  }

  #sequence(properties: Properties, fill: (node: SequenceNode) => number): Use {
    return this.#collection(properties, { kind: 'sequence', ...collection(properties, 'seq'), items: [] }, fill);
  }

  #mapping(properties: Properties, fill: (node: MappingNode) => number): Use {
    return this.#collection(properties, { kind: 'mapping', ...collection(properties, 'map'), pairs: [] }, fill);
  }

  /** The anchor is known inside of the collection already, as in PyYAML. */
  #collection<T extends SequenceNode | MappingNode>(
    { anchor, start }: Properties,
    node: T,
    fill: (node: T) => number,
  ): Use {
    if (anchor !== undefined) this.#anchors.set(anchor.text as string, node);
    this.#depth += 1;
    if (this.#depth > DEEPEST)
      throw new YamlError(yamlProblems.tooDeep, start, `more than ${DEEPEST} levels of lists and mappings`);
    node.end = fill(node);
    this.#depth -= 1;
    return written(node);
  }

  #blockItems(node: SequenceNode): number {
    let { end } = this.#scanner.next();
    for (let dash = this.#take('entry'); dash !== undefined; dash = this.#take('entry')) {
      const item = this.#at('entry', 'block-end') ? this.#empty(dash.end) : this.#node('block');
      node.items.push(item);
      end = item.end;
    }
    this.#expect('block-end', "expected the next '-' of the list", indentationHint);
    return end;
  }

  #indentlessItems(node: SequenceNode): number {
    let end = node.start;
    for (let dash = this.#take('entry'); dash !== undefined; dash = this.#take('entry')) {
      const item = this.#at('entry', 'key', 'value', 'block-end') ? this.#empty(dash.end) : this.#node('block');
      node.items.push(item);
      end = item.end;
    }
    return end;
  }

  #blockPairs(node: MappingNode): number {
    let { end } = this.#scanner.next();
    const part = (offset: number): Use =>
      this.#at('key', 'value', 'block-end') ? this.#empty(offset) : this.#node('indentless');
    for (let mark = this.#take('key'); mark !== undefined; mark = this.#take('key')) {
      const key = part(mark.end);
      const colon = this.#take('value');
      const value = colon === undefined ? this.#empty(key.end) : part(colon.end);
      node.pairs.push({ key, value, merged: false });
      end = Math.max(value.end, colon?.end ?? 0);
    }
    this.#expect('block-end', 'expected the next key of the mapping', indentationHint);
    return end;
  }

  #flowItems(node: SequenceNode): number {
    this.#scanner.next();
    for (let first = true; ; first = false) {
      if (!first && !this.#at('sequence-close'))
        this.#expect('comma', `expected ',' or ']'`, "add the missing ',', or close the list with ']'");
      const close = this.#take('sequence-close');
      if (close !== undefined) return close.end;
      node.items.push(this.#at('key') ? this.#flowPairItem() : this.#node('flow'));
    }
  }

  /** `[key: value]`: a mapping of one pair without braces. */
  #flowPairItem(): Use {
    const { start, end } = this.#scanner.peek();
    const properties: Properties = { anchor: undefined, tag: undefined, start, end };
    return this.#mapping(properties, (node) => this.#flowPair(node, 'sequence-close'));
  }

  #flowPairs(node: MappingNode): number {
    this.#scanner.next();
    for (let first = true; ; first = false) {
      if (!first && !this.#at('mapping-close'))
        this.#expect('comma', `expected ',' or '}'`, "add the missing ',', or close the mapping with '}'");
      const close = this.#take('mapping-close');
      if (close !== undefined) return close.end;
      if (this.#at('key')) {
        this.#flowPair(node, 'mapping-close');
      } else {
        const key = this.#node('flow');
        node.pairs.push({ key, value: this.#empty(key.end), merged: false });
      }
    }
  }

  #flowPair(node: MappingNode, close: TokenKind): number {
    const mark = this.#scanner.next();
    const key = this.#at('value', 'comma', close) ? this.#empty(mark.end) : this.#node('flow');
    const colon = this.#take('value');
    const value =
      colon === undefined || this.#at('comma', close) ? this.#empty(colon?.end ?? key.end) : this.#node('flow');
    node.pairs.push({ key, value, merged: false });
    return Math.max(value.end, colon?.end ?? 0);
  }
}

const written = (node: Node): Use => ({ node, start: node.start, end: node.end, alias: false });

const collection = (
  { tag, start, end }: Properties,
  kind: 'seq' | 'map',
): { tag: string; start: number; end: number } => ({
  tag: tag === undefined || tag === '!' ? STANDARD + kind : tag,
  start,
  end,
});
