import { readAnswer, writeAnswer } from './idempotency-answer';

describe('a kept answer', () => {
  it.each([['{"a":"\\u2028 Zürich\\n"}'], [''], ['\n{"__proto__":1}\n']])('is read back as it was: %j', (body) => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      link: '</docs/errors#conflict>; rel="help"',
    };
    const answer = { status: 409, headers, body };
    expect(readAnswer(writeAnswer(answer))).toEqual(answer);
  });

  it('leaves out what belongs to its request and its connection', () => {
    const headers = { 'x-request-id': 'r', connection: 'close', 'retry-after': '1', 'content-length': 2, link: 'l' };
    expect(readAnswer(writeAnswer({ status: 200, headers, body: '{}' })).headers).toEqual({ link: 'l' });
  });

  it.each([['{}\n'], ['{"status":"200","headers":{}}\n'], ['{"status":200}\n'], ['[]\n']])('is not %j', (text) => {
    expect(() => readAnswer(text)).toThrow('lacks');
  });
});
