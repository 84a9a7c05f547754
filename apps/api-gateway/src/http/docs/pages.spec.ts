import { ERROR_CODES } from '@iss/domain';
import { DocumentPages, filesOfDocuments } from './pages';

const pages = new DocumentPages();
const rendered = new Map(pages.addresses.map((address) => [address, pages.render(address) ?? '']));
const attributesOf = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

it('documents have pages, and a page has tables, programs and headings', () => {
  expect(pages.addresses).toEqual(expect.arrayContaining(['README', 'operations/install', 'project/README']));
  const html = rendered.get('webhooks') ?? '';
  for (const element of ['<table>', '<pre>', '<h2 id="']) expect(html).toContain(element);
});

it.each(pages.addresses)('every link of %s resolves to another host, a file, or a heading of a page', (address) => {
  const html = rendered.get(address) ?? '';
  const broken = attributesOf(html, 'href').filter((href) => {
    if (/^https?:/.test(href) || href === '/openapi.json') return false;
    const [path = '', anchor] = href.startsWith('#') ? [`/docs/${address}`, href.slice(1)] : href.split('#');
    if (filesOfDocuments().has(path.replace(/^\/docs\//, ''))) return false;
    const target = rendered.get(path.replace(/^\/docs\//, ''));
    return target === undefined || (anchor !== undefined && !attributesOf(target, 'id').includes(anchor));
  });
  expect(broken).toEqual([]);
  const images = attributesOf(html, 'src').map((source) => source.replace(/^\/docs\//, ''));
  expect(images.filter((image) => !filesOfDocuments().has(image))).toEqual([]);
});

it('a page links the programs that it names', () => {
  expect(attributesOf(rendered.get('webhooks') ?? '', 'href')).toContain('/docs/receivers/receiver.py');
});

it('the page of errors has a section for every error code', () => {
  const page = rendered.get('errors') ?? '';
  expect(ERROR_CODES.filter((code) => !page.includes(`<h2 id="${code}">`))).toEqual([]);
});

it('a search finds sections by all words of the query, and escapes the query', () => {
  const found = pages.search('Verify SIGNATURE');
  expect(attributesOf(found, 'href').some((href) => href.startsWith('/docs/webhooks#'))).toBe(true);
  expect(pages.search('unsubscribable nonsense')).toContain('0 sections');
  expect(pages.search('')).toContain('0 sections');
  expect(pages.search('"><script>')).not.toContain('<script>');
});
