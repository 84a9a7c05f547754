import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ERROR_CODES } from '@iss/domain';
import { renderPage } from './pages';

describe.each(['errors', 'webhooks'] as const)('the page %s', (name) => {
  const source = readFileSync(resolve(__dirname, '../../../../../docs', `${name}.md`), 'utf8');
  const html = renderPage(name);

  it('has every section, table and program of the document', () => {
    const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;
    const prose = source.replace(/^```[\s\S]*?^```/gm, '');
    expect(count(html, /<h[123] id="/g)).toBe(count(prose, /^#{1,3} /gm));
    expect(count(html, /<table>/g)).toBe(count(prose, /^\| -/gm));
    expect(count(html, /<pre>/g)).toBe(count(source, /^```\w+$/gm));
  });

  it('links to itself and to absolute addresses only: it is served without its neighbours', () => {
    const targets = [...html.matchAll(/href="([^"]*)"/g)].map(([, target]) => target ?? '');
    expect(targets.filter((target) => !/^(https:\/\/|#)/.test(target))).toEqual([]);
  });
});

it('the section of every error code is where the link of an error leads', () => {
  const page = renderPage('errors');
  expect(ERROR_CODES.filter((code) => !page.includes(`<h2 id="${code}">`))).toEqual([]);
});
