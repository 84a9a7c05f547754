import remarkParse from 'remark-parse';
import ts from 'typescript';
import { unified } from 'unified';

/** A paragraph, heading or cell, and the line where it begins. Inline code is replaced by `Code`. */
export interface Block {
  line: number;
  text: string;
}

const markdown = unified().use(remarkParse);
type Tree = ReturnType<typeof markdown.parse>;
type Node = Tree | Tree['children'][number];

/** A text for readers begins with a capitalized word and has at least four words. */
const WORDS = /^([A-Z][a-z]+|A|I) \S+ \S+ \S/;
/** A call whose first argument is the title of a test. */
const TITLED = /^(it|test|describe)\b/;

/**
 * Returns the prose of a file: all of a Markdown file, the descriptions of an OpenAPI document, and the comments, texts and
 * titles of tests in code. These are read as Markdown.
 */
export function readBlocks(file: string, text: string): Block[] {
  if (file.endsWith('.md')) return markdownBlocks(text, 1);
  return file.endsWith('.json') ? descriptionBlocks(text) : codeBlocks(file, text);
}

function markdownBlocks(text: string, firstLine: number): Block[] {
  return paragraphsOf(markdown.parse(text)).flatMap((paragraph) => {
    let line = firstLine + (paragraph.position?.start.line ?? 1) - 1;
    // remark parses a table, or several tags of a doc comment, as one paragraph.
    return proseOf(paragraph)
      .split(/\||^@(?:param \S+|\w+)/m)
      .map((part) => {
        const block = { line, text: part };
        line += part.split('\n').length - 1;
        return block;
      });
  });
}

function paragraphsOf(node: Node): Node[] {
  if (node.type === 'paragraph' || node.type === 'heading') return [node];
  return 'children' in node ? node.children.flatMap(paragraphsOf) : [];
}

function proseOf(node: Node): string {
  if (node.type === 'text' || node.type === 'html') return node.value;
  if (node.type === 'inlineCode') return 'Code';
  if (node.type === 'break') return '\n';
  return 'children' in node ? node.children.map(proseOf).join('') : '';
}

function descriptionBlocks(text: string): Block[] {
  return text.split('\n').flatMap((line, index) => {
    const value = /^\s*"(?:description|summary)": ("(?:[^"\\]|\\.)*")/.exec(line)?.[1];
    return value === undefined ? [] : blocksAt(index + 1, String(JSON.parse(value)));
  });
}

function blocksAt(line: number, text: string): Block[] {
  return markdownBlocks(text, line).map((block) => ({ line, text: block.text }));
}

function codeBlocks(file: string, text: string): Block[] {
  const source = ts.createSourceFile(file, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  const blocks: Block[] = [];
  let code = '';
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  const walk = (node: ts.Node, isPart = false) => {
    const start = node.getStart(source);
    const words = isPart ? '' : wordsOf(node).trim();
    if (WORDS.test(words)) blocks.push(...blocksAt(lineAt(start), words));
    const [title] = ts.isCallExpression(node) && TITLED.test(node.expression.getText(source)) ? node.arguments : [];
    if (title !== undefined && !WORDS.test(wordsOf(title))) {
      blocks.push(...blocksAt(lineAt(title.getStart(source)), wordsOf(title)));
    }
    // Without literals, comments can be found by their first characters.
    if (ts.isLiteralExpression(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node)) {
      code += text.slice(code.length, start) + text.slice(start, node.end).replace(/[^\n]/g, ' ');
    }
    ts.forEachChild(node, (child) => walk(child, ts.isBinaryExpression(node) && words !== ''));
  };
  walk(source);
  code += text.slice(code.length);
  // Consecutive line comments are one comment.
  for (const { 0: comment, index } of code.matchAll(/\/\*[^]*?\*\/|(?<=^[ \t]*)\/\/.*(\n[ \t]*\/\/.*)+|\/\/.*/gm)) {
    const body = comment.replace(/^[ \t]*(\/\*+|\*(?!\/)|\/\/) ?|\*\/$/gm, '');
    blocks.push(...markdownBlocks(body, lineAt(index)));
  }
  return blocks;
}

/** Returns the text of a literal, a template or literals joined by `+`; an empty text for any other node. */
function wordsOf(node: ts.Node): string {
  if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('`Code`');
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return '';
  return wordsOf(node.left) + (wordsOf(node.right) || '`Code`');
}
