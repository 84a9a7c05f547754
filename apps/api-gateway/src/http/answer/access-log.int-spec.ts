import { createLogger, LOGGER } from '@iss/platform';
import { Controller, Get, type INestApplication, Module, Param } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { Registry } from 'prom-client';
import request from 'supertest';
import { Public } from '../../auth/public.decorator';
import { AccessLog } from './access-log';
import { ErrorFilter } from '../errors/error.filter';
import { AnonymousRequests } from '../limits/anonymous-requests';
import { ClientAddresses } from '../request/client-address';
import { requestIdMiddleware, Trace } from '../request/request-id';
import type { RequestTrace } from '../../request-trace';
import { RouteTable } from '../errors/route-table';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

@Controller()
class EchoController {
  @Get('echo/:what')
  @Public()
  echo(@Param('what') what: string, @Trace() trace: RequestTrace): RequestTrace {
    if (what === 'failure') throw new Error('no');
    return trace;
  }
}

const lines: Record<string, unknown>[] = [];
const logger = createLogger({ name: 'spec', level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
const ADDRESSES = new ClientAddresses([], () => undefined);
let app: INestApplication;

@Module({
  controllers: [EchoController],
  providers: [
    AccessLog,
    RouteTable,
    { provide: LOGGER, useValue: logger },
    { provide: Registry, useValue: new Registry() },
    { provide: APP_FILTER, useClass: ErrorFilter },
    { provide: ClientAddresses, useValue: ADDRESSES },
    { provide: AnonymousRequests, useValue: new AnonymousRequests(0, ADDRESSES) },
  ],
})
class EchoModule {}

beforeAll(async () => {
  app = await NestFactory.create(EchoModule, { logger: false });
  app.use(requestIdMiddleware, app.get(AccessLog).middleware);
  await app.listen(0, '127.0.0.1');
});

afterAll(() => app?.close());

beforeEach(() => {
  lines.length = 0;
});

const get = (path: string) => request(app.getHttpServer()).get(path);

describe('the log lines of a request', () => {
  it('have its request id and its caller’s trace, under a new span', async () => {
    const answer = await get('/echo/x?secret=s')
      .set('traceparent', `00-${TRACE_ID}-00f067aa0ba902b7-01`)
      .set('X-Request-Id', 'mine')
      .expect(200);
    const [line] = lines;
    expect(lines).toHaveLength(1);
    expect(line).toMatchObject({
      msg: 'request',
      path: '/echo/x',
      status: 200,
      principal_id: null,
      tenant_id: null,
      client: '127.0.0.1',
      request_id: 'mine',
      trace_id: TRACE_ID,
    });
    expect(line?.['span_id']).toMatch(/^[0-9a-f]{16}$/);
    expect(answer.body).toEqual({ requestId: 'mine', traceparent: `00-${TRACE_ID}-${String(line?.['span_id'])}-01` });
    expect(JSON.stringify(line)).not.toContain('secret');
  });

  it('share a new trace when it fails without a valid traceparent', async () => {
    const answer = await get('/echo/failure').set('traceparent', 'nonsense').expect(500);
    const [failure, line] = lines;
    expect(failure).toMatchObject({ msg: 'request failed', request_id: answer.body.error.request_id });
    expect(failure?.['trace_id']).toMatch(/^[0-9a-f]{32}$/);
    for (const name of ['request_id', 'trace_id', 'span_id']) expect(line?.[name]).toBe(failure?.[name]);
  });
});
