import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type AccessRule, rolesFrom, RULES } from '@iss/domain';

/** The folder of the sources, from `src` and from `dist`. Files of SQL are read at start, as the migrations are. */
const FOLDER = resolve(__dirname, '../../src');

const HEADER = /^-- (statement|fragment): (\w+)(?:\(([\w, ]*)\))?$/;
const BEFORE_HEADER = /^(?=-- (?:statement|fragment): )/m;
/** A reference to a fragment, or to a parameter of one. In an operator, `@` follows or precedes another sign. */
const REFERENCE = /(?<![<@\w])@([a-z]\w*)/g;
const ARGUMENT_TOKEN = /'(?:[^']|'')*'|[()[\]{},]|[^'()[\]{},]+/g;

/** A named text of a file, without its comments. */
interface Section {
  file: string;
  /** Empty for a statement. */
  parameters: readonly string[];
  text: string;
}

/** The statements and fragments of files of SQL (docs/sql.md). */
export class SqlFiles {
  private readonly statements = new Map<string, Section>();
  /** By name. Several files may use the same name, each for a fragment of its own. */
  private readonly fragments = new Map<string, Section[]>();

  /** Takes the texts by the names of their files. Throws if two statements have one name. */
  constructor(texts: Readonly<Record<string, string>>) {
    for (const [file, text] of Object.entries(texts)) {
      for (const part of text.split(BEFORE_HEADER)) this.add(file, part.split('\n'));
    }
  }

  private add(file: string, [header = '', ...lines]: readonly string[]): void {
    const [, kind, name = '', words = ''] = HEADER.exec(header) ?? [];
    const parameters = words.split(',').flatMap((word) => word.trim() || []);
    const text = lines.filter((line) => !/^\s*--/.test(line)).join('\n');
    const section = { file, parameters, text: text.trim() };
    if (kind === 'fragment') this.fragments.set(name, [...(this.fragments.get(name) ?? []), section]);
    else if (kind === 'statement' && this.statements.has(name)) throw new Error(`Two statements are named ${name}`);
    else if (kind === 'statement') this.statements.set(name, section);
  }

  /** Returns the text of the statement with this name, with its fragments. Throws if no file has it. */
  statement(name: string): string {
    const section = this.statements.get(name);
    if (section === undefined) throw new Error(`No file has the statement ${name}`);
    return this.expand(section, new Map());
  }

  /** Returns the text of a fragment with these arguments. */
  fragment(name: string, values: readonly string[]): string {
    return this.textOf(this.find(name, ''), name, values);
  }

  /** Finds the fragment of this name in the file, else the only one in other files. */
  private find(name: string, file: string): Section {
    const all = this.fragments.get(name) ?? [];
    const own = all.filter((one) => one.file === file);
    const [fragment, another] = own.length > 0 ? own : all;
    if (fragment === undefined || another !== undefined) {
      throw new Error(`${file} refers to @${name}, and there are ${all.length} fragments of this name`);
    }
    return fragment;
  }

  private textOf(fragment: Section, name: string, values: readonly string[]): string {
    const { parameters } = fragment;
    if (parameters.length !== values.length) throw new Error(`@${name} takes ${parameters.length} arguments`);
    return this.expand(fragment, new Map(parameters.map((parameter, index) => [parameter, values[index] ?? ''])));
  }

  /**
   * Replaces the references in a text. References in an argument are replaced first, so they never name parameters of a
   * fragment.
   */
  private expand({ file, text }: Section, parameters: ReadonlyMap<string, string>): string {
    let expanded = '';
    let end = 0;
    for (const { 0: reference, 1: name = '', index } of text.matchAll(REFERENCE)) {
      // This reference is in an argument of the previous one.
      if (index < end) continue;
      expanded += text.slice(end, index);
      end = index + reference.length;
      const parameter = parameters.get(name);
      if (parameter !== undefined) {
        expanded += parameter;
        // Without a group, the dot after it is left out: `"@group.name"`.
        if (parameter === '' && text[end] === '.') end += 1;
        continue;
      }
      const list = LISTS[name];
      const fragment = list === undefined ? this.find(name, file) : undefined;
      const call = fragment?.parameters.length === 0 ? { values: [], end } : argumentsAt(text, end);
      end = call.end;
      const values = call.values.map((value) => this.expand({ file, parameters: [], text: value }, parameters));
      expanded += fragment === undefined ? listOf(name, values) : this.textOf(fragment, name, values);
    }
    return expanded + text.slice(end);
  }
}

/** Splits the arguments in the parentheses at this place. An argument in braces may contain commas. */
function argumentsAt(text: string, start: number): { values: string[]; end: number } {
  const values = [''];
  let depth = 0;
  for (const { 0: token, index } of text.slice(start).matchAll(ARGUMENT_TOKEN)) {
    if (index === 0 && token !== '(') break;
    if (/^[([{]$/.test(token)) depth += 1;
    if (/^[)\]}]$/.test(token)) depth -= 1;
    if (depth === 0) {
      return { values: values.map((value) => value.trim().replace(/^\{(.*)\}$/s, '$1')), end: start + index + 1 };
    }
    if (token === ',' && depth === 1) values.push('');
    else if (index > 0) values.push((values.pop() ?? '') + token);
  }
  throw new Error(`Arguments are missing: ${text.slice(Math.max(0, start - 40), start + 40)}`);
}

/** Lists of a rule of the domain: `role IN (@roles(proposeUpdate))`. So a statement itself refuses what its rule refuses. */
const LISTS: Readonly<Record<string, (rule: AccessRule) => readonly string[]>> = {
  roles: ({ role }) => rolesFrom(role),
  scopes: ({ subject }) => (Array.isArray(subject) ? subject : []),
};

function listOf(list: string, [name = '']: readonly string[]): string {
  const rule = new Map<string, AccessRule>(Object.entries(RULES)).get(name);
  if (rule === undefined) throw new Error(`There is no rule ${name}`);
  return (LISTS[list]?.(rule) ?? []).map((value) => `'${value}'`).join(', ');
}

let sources: SqlFiles | undefined;

function filesOfSources(): SqlFiles {
  if (sources === undefined) {
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sql'));
    sources = new SqlFiles(Object.fromEntries(files.map((file) => [file, readFileSync(join(FOLDER, file), 'utf8')])));
  }
  return sources;
}

/** Returns the text of the statement with this name in the files of the sources. */
export function statementText(name: string): string {
  return filesOfSources().statement(name);
}

/** Returns the text of a fragment in the files of the sources, for a statement in TypeScript. */
export function fragmentText(name: string, ...values: readonly string[]): string {
  return filesOfSources().fragment(name, values);
}
