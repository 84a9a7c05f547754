import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { LONG_LIVED } from '../processes.ts';
import { listenOnLoopback, readBody, readBytes, sendHtml, sendJson, stopServers } from './loopback-server.ts';
import { escapeHtml, page } from './page.ts';

const KEPT = 200;
/** A hook whose name begins with this always answers 500. */
const FAILING = 'fails-';

export interface InboxDelivery {
  hook: string;
  received_at: string;
  /** True if the signature is valid; null while the secret of the hook is unknown. */
  verified: boolean | null;
  /** The reason of a failed verification. */
  reason?: string;
  headers: IncomingHttpHeaders;
  /** Parsed JSON, or else the text. */
  body: unknown;
}

/**
 * Starts the webhook inbox, on loopback only.
 *
 * - `POST /hooks/{name}` receives and verifies a delivery. A hook whose name begins with `fails-` answers 500.
 * - `PUT /hooks/{name}/secret` `{secret}` sets the secret of a hook. Secrets are stored in `secretsFile`.
 * - `GET /` shows the last 200 deliveries as a page, `GET /deliveries` as JSON, newest first. They are in memory only.
 */
export async function startInbox(settings: { port: number; secretsFile: string }): Promise<{ stop(): Promise<void> }> {
  const { verifyWebhook } = await import('@iss/domain');
  const { port, secretsFile } = settings;
  const secrets = new Map<string, string>(existsSync(secretsFile) ? JSON.parse(readFileSync(secretsFile, 'utf8')) : []);
  const deliveries: InboxDelivery[] = [];

  const receive = async (hook: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBytes(request);
    const secret = secrets.get(hook);
    let verified: boolean | null = null;
    let reason = secret === undefined ? 'no secret is known for this hook' : undefined;
    if (secret !== undefined) {
      try {
        verifyWebhook({ secret, headers: request.headers, body });
        verified = true;
      } catch (error) {
        verified = false;
        reason = error instanceof Error ? error.message : String(error);
      }
    }
    deliveries.unshift({
      hook,
      received_at: new Date().toISOString(),
      verified,
      ...(reason === undefined ? {} : { reason }),
      headers: request.headers,
      body: parseLeniently(body.toString('utf8')),
    });
    deliveries.length = Math.min(deliveries.length, KEPT);
    if (hook.startsWith(FAILING)) sendJson(response, 500, { error: `Hooks that begin with ${FAILING} fail.` });
    else if (verified === false) sendJson(response, 401, { verified, reason });
    else response.writeHead(204).end();
  };

  const register = async (hook: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = parseLeniently(await readBody(request));
    const secret = typeof body === 'object' && body !== null && 'secret' in body ? body.secret : undefined;
    if (typeof secret !== 'string' || !secret.startsWith('whsec_')) {
      return sendJson(response, 400, { error: 'The body is {"secret": "whsec_…"}.' });
    }
    secrets.set(hook, secret);
    writeFileSync(secretsFile, JSON.stringify([...secrets]), { mode: 0o600 });
    response.writeHead(204).end();
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '/', headers } = request;
    // Refuses pages of other sites whose host name points at this machine (DNS rebinding).
    if (!/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(headers.host ?? ''))
      return sendJson(response, 403, { error: 'Unknown host' });
    const { pathname } = new URL(url, 'http://localhost');
    const [, hook, part] = /^\/hooks\/([\w.-]{1,100})(\/secret)?$/.exec(pathname) ?? [];
    if (hook !== undefined && method === 'POST' && part === undefined) return receive(hook, request, response);
    if (hook !== undefined && method === 'PUT' && part !== undefined) return register(hook, request, response);
    if (method === 'GET' && pathname === '/deliveries') return sendJson(response, 200, deliveries);
    if (method === 'GET' && pathname === '/') return sendHtml(response, 200, inboxPage(deliveries));
    return sendJson(response, 404, { error: 'POST /hooks/{name}, PUT /hooks/{name}/secret, GET /, GET /deliveries' });
  };

  const servers = await listenOnLoopback(port, () =>
    createServer(LONG_LIVED, (request, response) => {
      answer(request, response).catch(() => response.headersSent || response.writeHead(400).end());
    }),
  );
  return { stop: () => stopServers(servers) };
}

function parseLeniently(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function inboxPage(deliveries: InboxDelivery[]): string {
  const rows = deliveries.map(({ hook, received_at: receivedAt, verified, reason, headers, body }) => {
    const verdict = verified === true ? '✔ verified' : verified === false ? '✘ not verified' : '? not checked';
    const explanation = reason === undefined ? '' : `<br>${escapeHtml(reason)}`;
    const content = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
    return `<tr><td><time datetime="${receivedAt}">${receivedAt}</time></td><td>${escapeHtml(hook)}</td><td>${verdict}${explanation}</td>
    <td><pre>${escapeHtml(content)}</pre><details><summary>Headers</summary><pre>${escapeHtml(JSON.stringify(headers, null, 2))}</pre></details></td></tr>`;
  });
  const table = `<table><thead><tr><th scope="col">Received</th><th scope="col">Hook</th><th scope="col">Signature</th><th scope="col">Delivery</th></tr></thead>
  <tbody>${rows.join('\n')}</tbody></table>`;
  const intro =
    '<p>The last 200 deliveries, newest first. The page reloads every 5 seconds. <a href="/deliveries">Show as JSON</a>.</p>';
  const refresh = '<meta http-equiv="refresh" content="5">';
  return page('Webhook inbox', intro + (rows.length === 0 ? '<p>Nothing has arrived yet.</p>' : table), refresh);
}
