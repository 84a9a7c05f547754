import { readAnswer, writeAnswer } from './idempotency-answer';

describe('a stored response', () => {
  it.each([['{"a":"\\u2028 Zürich\\n"}'], [''], ['\n{"__proto__":1}\n']])('is read back unchanged: %j', (body) => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      link: '</docs/errors#conflict>; rel="help"',
    };
    const answer = { status: 409, headers, body };
    expect(readAnswer(writeAnswer(answer))).toEqual(answer);
  });

  it('omits headers of its request and its connection', () => {
    const headers = { 'x-request-id': 'r', connection: 'close', 'retry-after': '1', 'content-length': 2, link: 'l' };
    expect(readAnswer(writeAnswer({ status: 200, headers, body: '{}' })).headers).toEqual({ link: 'l' });
  });

  it.each([['{}\n'], ['{"status":"200","headers":{}}\n'], ['{"status":200}\n'], ['[]\n']])(
    'cannot be read from %j',
    (text) => {
      expect(() => readAnswer(text)).toThrow('lacks');
    },
  );
});
