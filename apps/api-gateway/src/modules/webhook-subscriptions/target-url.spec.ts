import { DomainError } from '@iss/domain';
import { requireTargetUrl } from './target-url';

const problemOf = (text: string, allowPrivateTargets: boolean): string | undefined => {
  try {
    requireTargetUrl(text, allowPrivateTargets);
    return undefined;
  } catch (error) {
    return error instanceof DomainError ? error.details?.[0]?.message : String(error);
  }
};

describe('requireTargetUrl', () => {
  it('returns the URL as sent, without surrounding whitespace', () => {
    expect(requireTargetUrl(' \t\r\nhttps://EXAMPLE.com/Hook?a=1 \n', false)).toBe('https://EXAMPLE.com/Hook?a=1');
    expect(requireTargetUrl('https://93.184.215.14:8443/', false)).toBe('https://93.184.215.14:8443/');
    expect(requireTargetUrl('https://[2606:4700::1111]/', false)).toBe('https://[2606:4700::1111]/');
  });

  it.each([
    '',
    ' ',
    'example.com/hook',
    '/hook',
    'https://',
    'ftp://example.com',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://example.com/',
    'http://93.184.215.14/',
    'https://example.com/\r\nx: y',
    'https://exam\nple.com/',
    'https://example.com/a b',
    'https://example.com/\u0000',
    'https://example.com/\u0085',
  ])('refuses %j, even if private targets are allowed', (text) => {
    for (const allowed of [false, true]) expect(problemOf(text, allowed)).toBe('must be an absolute https: URL');
  });

  it.each(['https://user@example.com/', 'https://user:pass@example.com/', 'https://:pass@example.com/'])(
    'refuses %s because of its credentials',
    (text) => {
      for (const allowed of [false, true]) expect(problemOf(text, allowed)).toBe('must not contain credentials');
    },
  );

  it.each([
    'https://localhost/',
    'https://LOCALHOST./',
    'https://hooks.localhost/',
    'https://receiver/',
    'https://metadata.google.internal/',
    'https://printer.local/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://10.0.0.1/',
    'https://169.254.169.254/',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://224.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fd00:ec2::254]/',
    'https://[fe80::1]/',
  ])('accepts %s only if private targets are allowed, and then also with http', (text) => {
    expect(problemOf(text, false)).toBe('must name a public host');
    expect(problemOf(text, true)).toBeUndefined();
    expect(problemOf(text.replace('https:', 'http:'), true)).toBeUndefined();
  });
});
