import express from 'express';
import request from 'supertest';
import { cachedPage } from './cached-page';

const TEXT = 'Zürich '.repeat(1000);

function served() {
  const made: string[] = [];
  const application = express();
  application.use('/page', cachedPage());
  application.get('/page', (_request, response) => {
    made.push('page');
    response.type('text/yaml').send(TEXT);
  });
  application.get('/page/below', (_request, response) => void response.send('below'));
  return { made, ask: request(application) };
}

it('cachedPage renders a page once, and sends it with and without gzip', async () => {
  const { made, ask } = served();
  const sizes: number[] = [];
  for (const encoding of ['gzip', 'identity', 'gzip;q=0', 'br, gzip']) {
    const answer = await ask.get('/page').set('Accept-Encoding', encoding).buffer(true);
    expect(answer.headers).toMatchObject({ 'content-type': 'text/yaml; charset=utf-8', vary: 'Accept-Encoding' });
    expect(answer.text).toBe(TEXT);
    sizes.push(Number(answer.headers['content-length']));
  }
  const whole = Buffer.byteLength(TEXT);
  expect(sizes.map((size) => (size === whole ? 'whole' : size < whole / 10))).toEqual([true, 'whole', 'whole', true]);
  expect(made).toEqual(['page']);
});

it('cachedPage answers HEAD without a body, and passes on requests for subpaths', async () => {
  const { ask } = served();
  await ask.get('/page').expect(200);
  const head = await ask.head('/page').set('Accept-Encoding', 'identity').expect(200);
  expect(head.headers['content-length']).toBe(String(Buffer.byteLength(TEXT)));
  expect((await ask.get('/page/below')).text).toBe('below');
});
