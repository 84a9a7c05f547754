// receiver.mjs: node receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET;
const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
const TOLERANCE_SECONDS = 300;
const seen = new Set(); // In production: a unique key in your database.

const mac = (key, ...parts) => {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
};

function isSame(given, expected) {
  const [a, b] = [Buffer.from(String(given)), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function webhookSignatureFits(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1000 - timestamp) > TOLERANCE_SECONDS) return false;
  const expected = `v1,${mac(key, `${id}.${timestamp}.`, body).toString('base64')}`;
  return signatures.split(' ').some((signature) => isSame(signature, expected));
}

function serviceSignatureFits(headers, body) {
  return isSame(headers['x-service-signature'], mac(secret, body).toString('hex'));
}

const fits = process.env.WEBHOOK_SCHEME === 'service' ? serviceSignatureFits : webhookSignatureFits;

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  if (!fits(request.headers, body)) return response.writeHead(401).end();
  const event = JSON.parse(body.toString());
  if (!seen.has(event.id)) console.log(event.type, event.id);
  seen.add(event.id);
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1');
