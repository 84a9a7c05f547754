import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Returns the exported functions and public methods of a file that use the statement declared at `line` (from 1). */
export function callersOf(file: string, line: number): string[] {
  const mentions = partsOf(file);
  const declared = [...mentions.keys()].find((name) => mentions.get(name)?.lines.includes(line));
  return [...mentions]
    .filter(([name, { isPublic }]) => isPublic && declared !== undefined && reaches(mentions, name, declared))
    .map(([name]) => name);
}

interface Part {
  /** The names of other parts that it mentions. */
  names: Set<string>;
  lines: number[];
  isPublic: boolean;
}

const partsByFile = new Map<string, Map<string, Part>>();

/** Parses each file once, because it may declare many statements. */
function partsOf(file: string): Map<string, Part> {
  const known = partsByFile.get(file);
  if (known !== undefined) return known;
  const parts = mentionsIn(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
  partsByFile.set(file, parts);
  return parts;
}

/** Returns the parts of a file: its declarations, and each member of a class as `Class.member`. */
function mentionsIn(source: ts.SourceFile): Map<string, Part> {
  const parts = new Map<string, Part>();
  const add = (name: string, node: ts.Node, isPublic: boolean, className?: string): void => {
    const part = parts.get(name) ?? { names: new Set(), lines: [], isPublic };
    for (const mentioned of namesIn(node, className)) part.names.add(mentioned);
    const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
    for (let line = lineOf(node.getStart()); line <= lineOf(node.getEnd()); line += 1) part.lines.push(line);
    parts.set(name, part);
  };
  for (const node of source.statements) {
    if (ts.isVariableStatement(node))
      for (const one of node.declarationList.declarations) add(one.name.getText(), one, false);
    if (ts.isFunctionDeclaration(node)) add(node.name?.text ?? '', node, isExported(node));
    if (!ts.isClassDeclaration(node)) continue;
    const className = node.name?.text ?? '';
    for (const member of node.members) {
      if (ts.isConstructorDeclaration(member)) {
        for (const [field, value] of assignmentsIn(member)) add(`${className}.${field}`, value, false, className);
      } else if (member.name !== undefined) {
        const isPublic = ts.isMethodDeclaration(member) && !isPrivate(member);
        add(`${className}.${member.name.getText()}`, member, isPublic, className);
      }
    }
  }
  return parts;
}

function* namesIn(node: ts.Node, className: string | undefined): Iterable<string> {
  if (ts.isPropertyAccessExpression(node) && node.expression.kind === ts.SyntaxKind.ThisKeyword) {
    yield `${className ?? ''}.${node.name.text}`;
  } else if (ts.isIdentifier(node)) {
    yield node.text;
  }
  for (const child of node.getChildren()) yield* namesIn(child, className);
}

/** Returns the fields that a constructor sets, with their values. */
function assignmentsIn(constructor: ts.ConstructorDeclaration): [field: string, value: ts.Node][] {
  return (constructor.body?.statements ?? []).flatMap((statement): [string, ts.Node][] => {
    if (!ts.isExpressionStatement(statement) || !ts.isBinaryExpression(statement.expression)) return [];
    const { left, right } = statement.expression;
    return ts.isPropertyAccessExpression(left) ? [[left.name.text, right]] : [];
  });
}

function reaches(parts: ReadonlyMap<string, Part>, from: string, to: string, passed = new Set<string>()): boolean {
  if (from === to) return true;
  passed.add(from);
  const names = [...(parts.get(from)?.names ?? [])].filter((name) => parts.has(name) && !passed.has(name));
  return names.some((name) => reaches(parts, name, to, passed));
}

function isExported(node: ts.FunctionDeclaration): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

function isPrivate(node: ts.MethodDeclaration): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) ?? false;
}
