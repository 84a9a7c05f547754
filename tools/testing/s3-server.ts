import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A small store with the part of S3's interface that the archive uses, for tests. It checks no signatures. */
export interface S3Server {
  url: string;
  /** By `bucket/key`. */
  objects: Map<string, Buffer>;
  /** How a web server should serve an object, by `bucket/key`. */
  headers: Map<string, { contentType: string | undefined; cacheControl: string | undefined }>;
  /** The method and path of each request. */
  requests: string[];
  /** How it behaves: it fails, answers late, answers wrong bytes, never answers, or is full. */
  behaviour: 'normal' | 'failing' | 'slow' | 'wrong' | 'hung' | 'full';
  close(): Promise<void>;
}

const SLOW_MS = 300;

type State = Pick<S3Server, 'objects' | 'headers' | 'requests' | 'behaviour'>;

/** Starts the store on a free port, or on the given one. */
export async function startS3(port = 0): Promise<S3Server> {
  const state: State = {
    objects: new Map(),
    headers: new Map(),
    requests: [],
    behaviour: 'normal',
  };
  const server: Server = createServer((request, response) => {
    answer(state, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port: used } = server.address() as AddressInfo;
  return Object.assign(state, { url: `http://127.0.0.1:${used}`, close });
}

async function answer(
  { objects, headers: shown, requests, behaviour }: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', headers } = request;
  const name = decodeURIComponent(URL.parse(request.url ?? '', 'http://s3')?.pathname.replace(/^\/|\/$/g, '') ?? '');
  requests.push(`${method} ${name}`);
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  if (behaviour === 'hung') return;
  if (behaviour === 'slow') await wait(SLOW_MS);
  if (behaviour === 'failing') return refuse(response, 503, 'SlowDown');
  const isBucket = !name.includes('/');
  if (method === 'HEAD' && isBucket) return void response.end();
  if (method === 'PUT') {
    if (behaviour === 'full') return refuse(response, 507, 'InsufficientCapacity');
    objects.set(name, Buffer.concat(chunks));
    shown.set(name, { contentType: headers['content-type'], cacheControl: headers['cache-control'] });
    return void response.setHeader('ETag', '"1"').end();
  }
  if (method === 'DELETE') {
    objects.delete(name);
    return void response.writeHead(204).end();
  }
  const found = objects.get(name);
  if (found === undefined) return refuse(response, 404, 'NoSuchKey');
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
  const bytes = Buffer.from(found.subarray(Number(from), to === '' ? undefined : Number(to) + 1));
  if (bytes.length === 0) return refuse(response, 416, 'InvalidRange');
  if (behaviour === 'wrong') bytes.reverse();
  response.writeHead(206, { 'Content-Length': bytes.length, 'Content-Type': 'application/octet-stream' });
  response.end(bytes);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'Content-Type': 'application/xml' });
  response.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
