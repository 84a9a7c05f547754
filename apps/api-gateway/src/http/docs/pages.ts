import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';

/** The repository's `docs/`, seen from here as source and as built alike. */
const FOLDER = join(__dirname, '../../../../../docs');

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  table { border-collapse: collapse; }
  th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem; border-bottom: 1px solid #8888; }
  pre { overflow-x: auto; padding: 0.8rem; background: #8882; }
  code { font-size: 0.9em; }`;

/** A page of `docs/` as HTML. Each heading has its text as id, in lower case and with hyphens: `#duplicates-and-order`. */
export function renderPage(name: 'errors' | 'webhooks'): string {
  const text = readFileSync(join(FOLDER, `${name}.md`), 'utf8');
  const [, title = name] = /^# (.*)$/m.exec(text) ?? [];
  const markdown = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const id = heading.toLowerCase().replace(/[^\w]+/g, '-');
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
    },
  });
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head>
<body>${markdown.parse(text, { async: false })}</body>
</html>
`;
}
