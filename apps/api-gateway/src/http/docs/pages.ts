import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Marked } from 'marked';

/** The root of the repository. The path is correct from `src` and from `dist`. */
export const ROOT = join(__dirname, '../../../../..');
/** Pages of the repository's root, each with its address below `/docs`. */
const PROJECT_PAGES = ['README', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY'];
const HOME = 'README';
const MAX_RESULTS = 20;
const MAX_QUERY = 200;

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 1rem auto; padding: 0 1rem; }
  header { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; border-bottom: 1px solid #8888; padding-bottom: 0.6rem; }
  header form { margin-left: auto; }
  input, button { font: inherit; }
  img { max-width: 100%; }
  table { border-collapse: collapse; display: block; overflow-x: auto; }
  th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem; border-bottom: 1px solid #8888; }
  pre { overflow-x: auto; padding: 0.8rem; background: #8882; }
  code { font-size: 0.9em; }`;

interface Page {
  /** The file, relative to the repository. */
  file: string;
  title: string;
  text: string;
}

interface Section {
  address: string;
  title: string;
  text: string;
}

/**
 * Serves the documents of the repository: `docs/tour.md` has the address `tour`, and `README.md` the address `project/README`.
 * Files are read when the first reader asks.
 */
export class DocumentPages {
  private readonly html = new Map<string, string>();
  private loaded: ReadonlyMap<string, Page> | undefined;
  private linked: ReadonlyMap<string, string> | undefined;

  /** `neighbours` are links on each page to pages outside the documents: addresses by name. */
  constructor(private readonly neighbours: Readonly<Record<string, string>> = {}) {}

  get addresses(): string[] {
    return [...this.pages.keys()];
  }

  /** Returns a page as HTML, or undefined if there is none at the address. */
  render(address: string): string | undefined {
    const page = this.pages.get(address === '' ? HOME : address);
    if (page === undefined) return undefined;
    const html = this.html.get(page.file) ?? this.layOut(page.title, this.toHtml(page));
    this.html.set(page.file, html);
    return html;
  }

  /**
   * Returns a page of results: the sections that contain every word of a query. Sections with hits in their titles come
   * first.
   */
  search(query: string): string {
    const words = query.slice(0, MAX_QUERY).toLowerCase().split(/\s+/).filter(Boolean);
    const hits =
      words.length === 0 ? [] : this.sections().filter(({ title, text }) => containsAll(`${title}\n${text}`, words));
    const found = hits.sort((one, other) => titleHits(other, words) - titleHits(one, words)).slice(0, MAX_RESULTS);
    const items = found.map(
      ({ address, title, text }) =>
        `<li><a href="/docs/${address}">${escapeHtml(title)}</a><br>${escapeHtml(excerptOf(text, words))}</li>`,
    );
    const count = `${hits.length} ${hits.length === 1 ? 'section' : 'sections'}`;
    const shown = hits.length > found.length ? `, the first ${found.length} shown` : '';
    return this.layOut('Search', `<h1>Search</h1><p>${count}${shown}.</p><ul>${items.join('\n')}</ul>`, query);
  }

  private get pages(): ReadonlyMap<string, Page> {
    return (this.loaded ??= loadPages());
  }

  /** Returns the address below `/docs` of each page and file that a page can link. */
  private get addressesByFile(): ReadonlyMap<string, string> {
    return (this.linked ??= new Map([
      ...[...this.pages].map(([address, { file }]): [string, string] => [file, address]),
      ...[...filesOfDocuments()].map(([address, file]): [string, string] => [file, address]),
    ]));
  }

  private toHtml({ file, text }: Page): string {
    const addresses = this.addressesByFile;
    const idOf = uniqueIds();
    const markdown = new Marked({
      renderer: {
        heading({ tokens, depth, text: heading }) {
          return `<h${depth} id="${idOf(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
        },
        link({ href, tokens }) {
          const target = addressOf(file, href, addresses);
          const inner = this.parser.parseInline(tokens);
          return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
        },
        image({ href, text: description }) {
          const source = posix.join(posix.dirname(file), href).replace(/^docs\//, '');
          return `<img src="/docs/${escapeHtml(source)}" alt="${escapeHtml(description)}">`;
        },
      },
    });
    return markdown.parse(text, { async: false });
  }

  private layOut(title: string, body: string, query = ''): string {
    const links = Object.entries({ Documents: `/docs/${HOME}`, ...this.neighbours }).map(
      ([name, address]) => `<a href="${escapeHtml(address)}">${escapeHtml(name)}</a>`,
    );
    return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Identity State Service</title><style>${STYLE}</style></head>
<body>
<header><nav>${links.join(' · ')}</nav>
<form action="/docs/search" role="search"><input type="search" name="q" value="${escapeHtml(query)}" maxlength="${MAX_QUERY}"
aria-label="Search the documents" placeholder="Search"> <button>Search</button></form></header>
<main>${body}</main>
</body>
</html>
`;
  }

  private sections(): Section[] {
    return [...this.pages].flatMap(([address, { title, text }]) => {
      const idOf = uniqueIds();
      return text
        .replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/^#/gm, ' #'))
        .split(/^(?=#{1,4} )/m)
        .filter((part) => part.startsWith('#'))
        .map((part) => {
          const end = part.indexOf('\n');
          const heading = part.slice(0, end === -1 ? undefined : end).replace(/^#+ /, '');
          const id = idOf(heading);
          const name = heading === title ? title : `${title}: ${heading}`;
          return { address: `${address}#${id}`, title: name.replaceAll('`', ''), text: part.slice(heading.length) };
        });
    });
  }
}

/** Returns the images and programs of the documents: each file, relative to the repository, by its address below `/docs`. */
export function filesOfDocuments(): ReadonlyMap<string, string> {
  const files = [...filesBelow('docs'), ...filesBelow('bench/results').filter((file) => file.endsWith('.svg'))];
  return new Map(files.filter((file) => /\.(?!md$)\w+$/.test(file)).map((file) => [file.replace(/^docs\//, ''), file]));
}

function loadPages(): ReadonlyMap<string, Page> {
  const documents = filesBelow('docs')
    .filter((file) => file.endsWith('.md'))
    .map((file): [string, string] => [file.slice('docs/'.length, -'.md'.length), file]);
  const project = PROJECT_PAGES.map((name): [string, string] => [`project/${name}`, `${name}.md`]);
  return new Map(
    [...documents, ...project].sort().map(([address, file]) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const [, title = address] = /^# (.*)$/m.exec(text) ?? [];
      return [address, { file, title: title.replaceAll('`', ''), text }];
    }),
  );
}

/** Returns the files of a folder, relative to the repository. Returns none if the folder does not exist. */
function filesBelow(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files.map((file) => posix.join(folder, file.replaceAll('\\', '/')));
}

/** Returns the target of a link in a file: another host, a page or a file of the documents. Other files have no address. */
function addressOf(file: string, href: string, addresses: ReadonlyMap<string, string>): string | undefined {
  if (/^(https?:|#|\/)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.join(posix.dirname(file), path).replace(/\/$/, '/README.md');
  const address = addresses.get(target);
  return address === undefined ? undefined : `/docs/${address}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Returns a function that creates heading ids as GitHub does. A second heading with the same text gets `-1`. */
function uniqueIds(): (heading: string) => string {
  const seen = new Map<string, number>();
  return (heading) => {
    const id = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\s-]/gu, '')
      .replace(/\s/g, '-');
    const count = seen.get(id) ?? 0;
    seen.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

const containsAll = (text: string, words: readonly string[]): boolean =>
  words.every((word) => text.toLowerCase().includes(word));

const titleHits = ({ title }: Section, words: readonly string[]): number =>
  words.filter((word) => title.toLowerCase().includes(word)).length;

/** Returns some text around the first word that is found. */
function excerptOf(text: string, words: readonly string[]): string {
  const flat = text
    .replace(/[`*|]|\]\([^)]*\)|\[/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const at = Math.max(0, ...words.map((word) => flat.toLowerCase().indexOf(word)));
  const start = Math.max(0, at - 80);
  return `${start > 0 ? '…' : ''}${flat.slice(start, start + 240)}${flat.length > start + 240 ? '…' : ''}`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
