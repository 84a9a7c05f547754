/**
 * The part of Go's text/template that the chart uses: text, `{{- -}}`, comments, pipelines, variables, `if`, `with`, `range`,
 * `define`. Everything else is refused by name, so that a template cannot mean something else to Helm.
 * Source: https://pkg.go.dev/text/template.
 */
export type Value = null | boolean | number | bigint | string | readonly Value[] | Fields | Callable;
export type Callable = (...given: Value[]) => Value;
export interface Fields {
  readonly [name: string]: Value | undefined;
}

type Operand =
  | { kind: 'literal'; value: Value }
  | { kind: 'path'; variable: string | null; fields: string[] }
  | { kind: 'call'; name: string }
  | { kind: 'nested'; pipeline: Pipeline; fields: string[] };
type Command = Operand[];
type Pipeline = Command[];
type Step =
  | { kind: 'text'; text: string }
  | { kind: 'output'; pipeline: Pipeline }
  | { kind: 'assign'; name: string; declares: boolean; pipeline: Pipeline }
  | { kind: 'if' | 'with'; pipeline: Pipeline; body: Step[]; otherwise: Step[] }
  | { kind: 'range'; names: string[]; pipeline: Pipeline; body: Step[]; otherwise: Step[] };

export type Definitions = Map<string, Step[]>;

/** Parses a file and adds its definitions to `definitions`. Errors name file and line. */
export function parseTemplate(file: string, source: string, definitions: Definitions): Step[] {
  return new Parser(file, source, definitions).file();
}

/** Returns the output of a parsed template. `functions` contains `include` for other templates. */
export function execute(steps: readonly Step[], dot: Value, functions: Record<string, Callable>): string {
  return new Execution(functions).run(steps, dot, new Scope(null, new Map([['$', dot]])));
}

const KEYWORDS = ['if', 'with', 'range', 'define', 'else', 'end', 'template', 'block', 'break', 'continue'];
const TOKEN =
  /\s*(?:("(?:[^"\\]|\\.)*"|`[^`]*`)|(-?\d+(?:\.\d+)?)(?![\w.])|(:=|[=|(),])|(\$?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|\$(?:\.[A-Za-z_]\w*)*|(?:\.[A-Za-z_]\w*)+|\.))/y;

interface Action {
  words: string[];
  line: number;
}

class Parser {
  readonly #file: string;
  readonly #definitions: Definitions;
  readonly #pieces: (string | Action)[];
  #at = 0;

  constructor(file: string, source: string, definitions: Definitions) {
    this.#file = file;
    this.#definitions = definitions;
    this.#pieces = this.#split(source);
  }

  file(): Step[] {
    const { steps, end } = this.#steps();
    if (end !== null) this.#refuse(end, 'has nothing to end');
    return steps;
  }

  /** Splits a template into texts and actions, and trims the texts. */
  #split(source: string): (string | Action)[] {
    const pieces: (string | Action)[] = [];
    const action = /\{\{(-(?=\s))?\s*(\/\*[^]*?\*\/|(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|[^"`}]|\}(?!\}))*?)\s*?(\s-)?\}\}/g;
    let rest = 0;
    let trims = false;
    for (const match of source.matchAll(action)) {
      const [whole, left, inner = '', right] = match;
      let text = source.slice(rest, match.index);
      if (trims) text = text.trimStart();
      if (left !== undefined) text = text.trimEnd();
      pieces.push(text);
      const line = source.slice(0, match.index).split('\n').length;
      if (!inner.startsWith('/*')) pieces.push({ words: this.#words(inner, line), line });
      rest = match.index + whole.length;
      trims = right !== undefined;
    }
    const last = source.slice(rest);
    pieces.push(trims ? last.trimStart() : last);
    for (const piece of pieces) {
      if (typeof piece === 'string' && piece.includes('{{')) throw new Error(`${this.#file}: an action does not end`);
    }
    return pieces;
  }

  #words(text: string, line: number): string[] {
    const words: string[] = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const from = TOKEN.lastIndex;
      const match = TOKEN.exec(text);
      if (match === null) throw new Error(`${this.#file}:${line}: cannot read ${text.slice(from)}`);
      // A field directly after a closing bracket belongs to it; after a space it would be an argument.
      const word = match[0].trim();
      words.push(words.at(-1) === ')' && match[0] === word && word.startsWith('.') ? `)${word}` : word);
    }
    return words;
  }

  /** Parses steps up to the `end` or `else` of the enclosing block, and returns that too. */
  #steps(): { steps: Step[]; end: Action | null } {
    const steps: Step[] = [];
    while (this.#at < this.#pieces.length) {
      const piece = this.#pieces[this.#at++] ?? '';
      if (typeof piece === 'string') {
        if (piece !== '') steps.push({ kind: 'text', text: piece });
        continue;
      }
      const [first] = piece.words;
      if (first === 'end' || first === 'else') return { steps, end: piece };
      if (first === 'define') this.#define(piece);
      else steps.push(this.#step(piece, piece.words));
    }
    return { steps, end: null };
  }

  #define(action: Action): void {
    const name = String(this.#operand(action, action.words.slice(1)).value);
    const { steps, end } = this.#steps();
    if (end?.words[0] !== 'end') this.#refuse(action, 'does not end');
    if (this.#definitions.has(name)) this.#refuse(action, 'is defined twice');
    this.#definitions.set(name, steps);
  }

  #operand(action: Action, words: string[]): { value: Value } {
    const [[operand] = []] = this.#pipeline(action, words);
    if (operand?.kind !== 'literal') this.#refuse(action, 'wants a name in quotes');
    return operand;
  }

  #step(action: Action, words: string[]): Step {
    const [first = '', second] = words;
    switch (first) {
      case 'if':
      case 'with': {
        const pipeline = this.#pipeline(action, words.slice(1));
        return { kind: first, pipeline, ...this.#branches(action, first) };
      }
      case 'range': {
        const assigned = words.indexOf(':=');
        const names = words.slice(1, Math.max(assigned, 1)).filter((word) => word !== ',');
        const pipeline = this.#pipeline(action, words.slice(Math.max(assigned, 0) + 1));
        return { kind: 'range', names, pipeline, ...this.#branches(action, first) };
      }
      default:
        if (KEYWORDS.includes(first)) this.#refuse(action, 'is not understood here');
        if (/^\$\w+$/.test(first) && (second === ':=' || second === '=')) {
          const pipeline = this.#pipeline(action, words.slice(2));
          return { kind: 'assign', name: first, declares: second === ':=', pipeline };
        }
        return { kind: 'output', pipeline: this.#pipeline(action, words) };
    }
  }

  #branches(action: Action, kind: string): { body: Step[]; otherwise: Step[] } {
    const { steps: body, end } = this.#steps();
    if (end === null) this.#refuse(action, 'does not end');
    if (end.words[0] === 'end') return { body, otherwise: [] };
    if (end.words.length > 1) {
      if (end.words[1] !== 'if' || kind !== 'if') this.#refuse(end, 'is not understood here');
      return { body, otherwise: [this.#step(end, end.words.slice(1))] };
    }
    const { steps: otherwise, end: last } = this.#steps();
    if (last?.words[0] !== 'end') this.#refuse(action, 'does not end');
    return { body, otherwise };
  }

  #pipeline(action: Action, words: string[]): Pipeline {
    const pipeline: Pipeline = [[]];
    for (let index = 0; index < words.length; index += 1) {
      const word = words[index] ?? '';
      if (word === '|') pipeline.push([]);
      else if (word === '(') {
        const close = this.#closing(action, words, index);
        const fields = (words[close] ?? '').split('.').slice(1);
        pipeline
          .at(-1)
          ?.push({ kind: 'nested', pipeline: this.#pipeline(action, words.slice(index + 1, close)), fields });
        index = close;
      } else pipeline.at(-1)?.push(this.#word(action, word));
    }
    if (pipeline.some((command) => command.length === 0)) this.#refuse(action, 'lacks a value');
    return pipeline;
  }

  #closing(action: Action, words: string[], open: number): number {
    let depth = 0;
    for (let index = open; index < words.length; index += 1) {
      if (words[index] === '(') depth += 1;
      if (words[index]?.startsWith(')') === true && --depth === 0) return index;
    }
    return this.#refuse(action, 'lacks a )');
  }

  #word(action: Action, word: string): Operand {
    if (word.startsWith('"')) return { kind: 'literal', value: String(JSON.parse(word)) };
    if (word.startsWith('`')) return { kind: 'literal', value: word.slice(1, -1) };
    // A whole number in a template is Go's int; a number in the values is a float64.
    if (/^-?\d+$/.test(word)) return { kind: 'literal', value: BigInt(word) };
    if (word === 'true' || word === 'false') return { kind: 'literal', value: word === 'true' };
    if (word === 'nil') return { kind: 'literal', value: null };
    if (word.startsWith('$')) {
      const [variable = '', ...fields] = word.split('.');
      return { kind: 'path', variable, fields };
    }
    if (word.startsWith('.'))
      return { kind: 'path', variable: null, fields: word.split('.').filter((name) => name !== '') };
    if (/^\w+$/.test(word) && !KEYWORDS.includes(word)) return { kind: 'call', name: word };
    return this.#refuse(action, `has ${word} in it, which is not understood`);
  }

  #refuse(action: Action, why: string): never {
    throw new Error(`${this.#file}:${action.line}: {{ ${action.words.join(' ')} }} ${why}`);
  }
}

class Scope {
  readonly #outer: Scope | null;
  readonly #variables: Map<string, Value>;

  constructor(outer: Scope | null, variables: Map<string, Value>) {
    this.#outer = outer;
    this.#variables = variables;
  }

  read(name: string): Value {
    const value = this.#variables.get(name);
    if (value !== undefined) return value;
    if (this.#outer === null) throw new Error(`undefined variable ${name}`);
    return this.#outer.read(name);
  }

  declare(name: string, value: Value): void {
    this.#variables.set(name, value);
  }

  assign(name: string, value: Value): void {
    if (this.#variables.has(name)) this.#variables.set(name, value);
    else if (this.#outer === null) throw new Error(`undefined variable ${name}`);
    else this.#outer.assign(name, value);
  }
}

class Execution {
  readonly #functions: Record<string, Callable>;

  constructor(functions: Record<string, Callable>) {
    this.#functions = functions;
  }

  run(steps: readonly Step[], dot: Value, scope: Scope): string {
    return steps.map((step) => this.#step(step, dot, scope)).join('');
  }

  #step(step: Step, dot: Value, scope: Scope): string {
    switch (step.kind) {
      case 'text':
        return step.text;
      case 'output':
        return printed(this.#pipeline(step.pipeline, dot, scope));
      case 'assign': {
        const value = this.#pipeline(step.pipeline, dot, scope);
        if (step.declares) scope.declare(step.name, value);
        else scope.assign(step.name, value);
        return '';
      }
      case 'if':
      case 'with': {
        const value = this.#pipeline(step.pipeline, dot, scope);
        const inner = new Scope(scope, new Map());
        if (!isTrue(value)) return this.run(step.otherwise, dot, inner);
        return this.run(step.body, step.kind === 'with' ? value : dot, inner);
      }
      case 'range': {
        const entries = entriesOf(this.#pipeline(step.pipeline, dot, scope));
        if (entries.length === 0) return this.run(step.otherwise, dot, new Scope(scope, new Map()));
        const [first, second] = step.names;
        return entries
          .map(([key, value]) => {
            const inner = new Scope(scope, new Map());
            if (second !== undefined) inner.declare(second, value);
            if (first !== undefined) inner.declare(first, second === undefined ? value : key);
            return this.run(step.body, value, inner);
          })
          .join('');
      }
    }
  }

  #pipeline(pipeline: Pipeline, dot: Value, scope: Scope): Value {
    return pipeline.reduce<Value>(
      (before, command, index) => this.#command(command, dot, scope, index === 0 ? [] : [before]),
      null,
    );
  }

  #command([first, ...rest]: Command, dot: Value, scope: Scope, piped: Value[]): Value {
    if (first === undefined) return null;
    const given = (): Value[] => [...rest.map((operand) => this.#operand(operand, dot, scope)), ...piped];
    if (first.kind === 'call') return this.#call(first.name, rest, given, dot, scope, piped);
    const value = this.#operand(first, dot, scope);
    if (typeof value === 'function') return value(...given());
    if (rest.length + piped.length > 0) throw new Error(`can't give argument to non-function ${printed(value)}`);
    return value;
  }

  /** `and` and `or` stop at the first deciding operand, as in Go. */
  #call(name: string, rest: Operand[], given: () => Value[], dot: Value, scope: Scope, piped: Value[]): Value {
    if (name === 'and' || name === 'or') {
      let last: Value = null;
      for (const operand of [...rest, ...piped.map((value): Operand => ({ kind: 'literal', value }))]) {
        last = this.#operand(operand, dot, scope);
        if (isTrue(last) === (name === 'or')) return last;
      }
      return last;
    }
    const called = Object.hasOwn(this.#functions, name) ? this.#functions[name] : undefined;
    if (called === undefined) throw new Error(`function "${name}" is not one of those that the chart may use`);
    return called(...given());
  }

  #operand(operand: Operand, dot: Value, scope: Scope): Value {
    switch (operand.kind) {
      case 'literal':
        return operand.value;
      case 'path':
        return walk(operand.variable === null ? dot : scope.read(operand.variable), operand.fields);
      case 'nested':
        return walk(this.#pipeline(operand.pipeline, dot, scope), operand.fields);
      case 'call':
        return this.#command([operand], dot, scope, []);
    }
  }
}

/** Reads a path of fields. A missing field is null; a field of null is an error, as in Go. */
function walk(from: Value, fields: readonly string[]): Value {
  return fields.reduce<Value>((value, name) => {
    if (value === null) throw new Error(`nil pointer evaluating interface {}.${name}`);
    if (typeof value !== 'object' || isList(value))
      throw new Error(`can't evaluate field ${name} in ${printed(value)}`);
    return (Object.hasOwn(value, name) ? value[name] : undefined) ?? null;
  }, from);
}

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** Returns Go's truth: false, 0, null and empty values are false. */
export function isTrue(value: Value): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** Returns the entries for `range`: lists in order, fields by name. */
function entriesOf(value: Value): [Value, Value][] {
  if (value === null) return [];
  if (isList(value)) return value.map((item, index) => [BigInt(index), item]);
  if (typeof value !== 'object') throw new Error(`range can't iterate over ${printed(value)}`);
  return Object.keys(value)
    .sort()
    .map((name) => [name, value[name] ?? null]);
}

/** Prints a value as Go does; null is empty, as in Helm. */
export function printed(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'number' && (Math.abs(value) >= 1e6 || !Number.isInteger(value))) {
    throw new Error(`${value} would be printed as a float64: give it to int, or put it into quotes`);
  }
  if (typeof value === 'object' || typeof value === 'function')
    throw new Error('a list or map would be printed as Go prints it');
  return String(value);
}
