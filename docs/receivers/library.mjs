// library.mjs: node library.mjs
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const seen = new Set(); // In production: a unique key in your database.

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    return response.writeHead(401).end();
  }
  if (!seen.has(event.id)) console.log(event.type, event.id);
  seen.add(event.id);
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1');
