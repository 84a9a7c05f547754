import 'reflect-metadata';
import { generateKeyPairSync, hash, randomBytes, sign, verify } from 'node:crypto';
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import {
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  type INestApplication,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { APP_FILTER, MetadataScanner, NestFactory } from '@nestjs/core';
import { ensureBuilt } from '../build.ts';
import { repositoryRoot } from '../root.ts';
import { envelopeText } from './flows.ts';

/**
 * `node tools/run.mjs bench/tricks`: measures the gain of each trick in `apps/api-gateway/src/http/fast/README.md`, in one
 * process without sockets and database. Prints the microseconds of the fastest of many short windows, since a busy machine
 * affects that least.
 */
await ensureBuilt();
const gateway = createRequire(join(repositoryRoot, 'apps/api-gateway/dist/main.js'));
const { createLogger, lineWriter } = gateway('@iss/platform');
const { Registry } = gateway('prom-client');
const { JsonAdapter, sendWhole } = gateway('./http/answer/json-adapter.js');
const { JsonText } = gateway('./http/answer/json-text.js');
const { AccessLog } = gateway('./http/answer/access-log.js');
const { standingHeadersMiddleware, setHeaders, standingHeaders } = gateway('./http/answer/standing-headers.js');
const { ErrorFilter } = gateway('./http/errors/error.filter.js');
const { RouteTable } = gateway('./http/errors/route-table.js');
const { HandlerChain } = gateway('./http/fast/handler-chain.js');
const { Hot } = gateway('./http/fast/hot.decorator.js');
const { HotLane } = gateway('./http/fast/hot-lane.js');
const { messageClasses } = gateway('./http/fast/message-classes.js');
const { requestIdMiddleware } = gateway('./http/request/request-id.js');
const { LOGGER } = gateway('./settings.js');

const MEASURE_MS = 3_000;
const WINDOW = 100;
const BATCH = 32;
const NOWHERE = { write: () => undefined };
const ENVELOPE = envelopeText('5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', 'subject-1');

/** Returns the microseconds per call. */
function ofCalls(call: () => unknown): number {
  const until = performance.now() + MEASURE_MS;
  let least = Infinity;
  while (performance.now() < until) {
    const startedAt = performance.now();
    for (let count = 0; count < WINDOW; count++) call();
    least = Math.min(least, ((performance.now() - startedAt) * 1_000) / WINDOW);
  }
  return least;
}

// Node strips types but does not run decorators, so they are called here.
const PathParam = createParamDecorator((name: string, context: ExecutionContext): unknown => {
  return context.switchToHttp().getRequest<{ params: Record<string, string> }>().params[name];
});

interface Options {
  enhance?: (app: INestApplication) => unknown;
  middlewaresByModule?: boolean;
}

/** Starts an application with one route and everything that surrounds routes of the gateway, except the guards. */
async function startToy({ enhance, middlewaresByModule = false }: Options = {}): Promise<INestApplication> {
  class Toy {
    find(kind: string, id: string): unknown {
      return new JsonText(`{"kind":"${kind}","id":"${id}","envelope":${ENVELOPE}}`);
    }
  }
  const method = Object.getOwnPropertyDescriptor(Toy.prototype, 'find') ?? {};
  Get(':kind/:id')(Toy.prototype, 'find', method);
  PathParam('kind')(Toy.prototype, 'find', 0);
  PathParam('id')(Toy.prototype, 'find', 1);
  Hot()(Toy.prototype, 'find', method);
  Controller('toys')(Toy);
  class ToyModule {
    configure(consumer: MiddlewareConsumer): void {
      if (middlewaresByModule) consumer.apply(...middlewares).forRoutes('{*path}');
    }
  }
  let middlewares: Parameters<MiddlewareConsumer['apply']> = [];
  Module({
    controllers: [Toy],
    providers: [
      ...[AccessLog, RouteTable, MetadataScanner, HandlerChain, HotLane],
      { provide: LOGGER, useValue: createLogger({ name: 'tricks', level: 'info' }, NOWHERE) },
      { provide: Registry, useValue: new Registry() },
      { provide: APP_FILTER, useClass: ErrorFilter },
    ],
  })(ToyModule);
  const app = await NestFactory.create(ToyModule, new JsonAdapter(), { logger: false, bodyParser: false });
  middlewares = [requestIdMiddleware, standingHeadersMiddleware, app.get(AccessLog).middleware];
  if (!middlewaresByModule) app.use(...middlewares);
  enhance?.(app);
  return app.init();
}

/** Returns the microseconds per request in a burst. `classes` selects the request classes of the server: Node's or ours. */
async function ofRequests(app: INestApplication, path: string, classes: 'ours' | "Node's" = 'ours'): Promise<number> {
  const server: Server = app.getHttpServer();
  const ours = messageClasses(app.getHttpAdapter().getInstance(), () => undefined);
  const made = classes === 'ours' ? ours : { IncomingMessage, ServerResponse };
  const sockets = Array.from({ length: BATCH }, () =>
    Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { setTimeout: () => undefined }),
  );
  const serve = (socket: unknown): Promise<void> => {
    const request: IncomingMessage = Reflect.construct(made.IncomingMessage, [socket]);
    Object.assign(request, { method: 'GET', url: path, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
    Object.assign(request, { complete: true }).push(null);
    const response: ServerResponse = Reflect.construct(made.ServerResponse, [request]);
    response.assignSocket(Object(socket));
    return new Promise((resolve, reject) => {
      response.on('finish', () => {
        response.detachSocket(Object(socket));
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${path} was answered ${response.statusCode}`));
      });
      server.emit('request', request, response);
    });
  };
  const until = performance.now() + MEASURE_MS;
  let least = Infinity;
  while (performance.now() < until) {
    const startedAt = performance.now();
    await Promise.all(sockets.map(serve));
    least = Math.min(least, ((performance.now() - startedAt) * 1_000) / BATCH);
  }
  await app.close();
  return least;
}

const noInterceptor: NestInterceptor = { intercept: (_context, next) => next.handle() };
const noPipe: PipeTransform = { transform: (value: unknown) => value };
const HOT = '/toys/car/7';
/** A query, even an empty one, bypasses the hot lane. */
const ORDINARY = `${HOT}?`;

const lane = await ofRequests(await startToy(), HOT);
const ordinary = await ofRequests(await startToy(), ORDINARY);
const nodes = await ofRequests(await startToy(), ORDINARY, "Node's");
const interceptor = await ofRequests(await startToy({ enhance: (app) => app.useGlobalInterceptors(noInterceptor) }), ORDINARY);
const pipe = await ofRequests(await startToy({ enhance: (app) => app.useGlobalPipes(noPipe) }), ORDINARY);
const byModule = await ofRequests(await startToy({ middlewaresByModule: true }), ORDINARY);

const answer = new JsonText(`{"envelope":${ENVELOPE}}`);
const request = Object.assign(new IncomingMessage(Object.create(null)), { method: 'GET', requestId: 'the-same' });
const response = (): ServerResponse => Object.assign(new ServerResponse(request), { req: request });
const adapter = new JsonAdapter();
const atOnce = ofCalls(() => sendWhole(response(), answer));
const oneByOne = ofCalls(() => {
  const one = response();
  setHeaders(one, standingHeaders(request));
  adapter.reply(one, answer);
});

const spliced = ofCalls(() => JsonText.around('{"a":1,"envelope":', { text: ENVELOPE, hash: '' }, '}').bytes);
const serialized = ofCalls(() => Buffer.byteLength(JSON.stringify({ a: 1, envelope: JSON.parse(ENVELOPE) })));


const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const token = randomBytes(450).toString('base64url');
const signature = sign('sha256', Buffer.from(token), privateKey);
const checked = ofCalls(() => verify('sha256', Buffer.from(token), publicKey, signature));
const hashed = ofCalls(() => hash('sha256', token, 'base64'));

const logger = createLogger({ name: 'tricks', level: 'info' }, NOWHERE);
const members = { request_id: 'a', trace_id: 'b', span_id: 'c', method: 'GET', path: HOT, status: 200, duration_ms: 1.5 };
const writeLine = lineWriter(logger, 'info', 'request');
const line = ofCalls(() => writeLine(members));
const logged = ofCalls(() => logger.info(members, 'request'));

const rows: [what: string, withIt: number, without: number][] = [
  ['A route on the hot lane; by Express and Nest', lane, ordinary],
  ["By Express and Nest, of our classes of messages; of Node's", ordinary, nodes],
  ['The same; with an interceptor that does nothing', ordinary, interceptor],
  ['The same; with a global pipe that does nothing', ordinary, pipe],
  ['The same; with the three middlewares bound by a module', ordinary, byModule],
  ['All headers of an answer at once; one by one', atOnce, oneByOne],
  ['Stored text spliced into an answer; parsed and serialized', spliced, serialized],
  ['A known token: its SHA-256; its RS256 signature', hashed, checked],
  ['A line of the access log by lineWriter; by the logger', line, logged],
];
console.log('| µs | with | without |\n| --- | --- | --- |');
for (const [what, ...us] of rows) console.log(`| ${what} | ${us.map((one) => one.toFixed(2)).join(' | ')} |`);
process.exit();
