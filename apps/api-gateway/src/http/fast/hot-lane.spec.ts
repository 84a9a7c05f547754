import { DomainError } from '@iss/domain';
import { createLogger, DEFAULT_CONNECTION_LIMITS, LOGGER } from '@iss/platform';
import {
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  Injectable,
  Module,
  type NestInterceptor,
  Param,
  type PipeTransform,
  Post,
  type Provider,
  Put,
  Query,
  Res,
  Scope,
  SetMetadata,
  type Type,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, MetadataScanner, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { Registry } from 'prom-client';
import { request as send } from 'undici';
import { AccessLog } from '../answer/access-log';
import { JsonAdapter } from '../answer/json-adapter';
import { jsonStream, JsonText, type TextStream } from '../answer/json-text';
import { PublicFile } from '../answer/public-file';
import { standingHeadersMiddleware } from '../answer/standing-headers';
import { ErrorFilter } from '../errors/error.filter';
import { AnonymousRequests } from '../limits/anonymous-requests';
import { ClientAddresses } from '../request/client-address';
import { RouteTable } from '../errors/route-table';
import { requestIdMiddleware } from '../request/request-id';
import { HandlerChain } from './handler-chain';
import { Hot } from './hot.decorator';
import { HotLane } from './hot-lane';

const faulty = (path: string): DomainError =>
  new DomainError('validation_error', `${path} is not valid.`, [{ path, message: 'is not valid' }]);

/** Reads a path parameter, which must not be `bad`. */
const PathParam = createParamDecorator((name: string, context: ExecutionContext): string => {
  const value = String(context.switchToHttp().getRequest<Request>().params[name]);
  if (value === 'bad') throw faulty(`/path/${name}`);
  return value;
});

/** Reads a header asynchronously, which must not be `bad`. */
const HeaderLater = createParamDecorator(async (name: string, context: ExecutionContext): Promise<string> => {
  await new Promise((resolve) => setImmediate(resolve));
  const value = String(context.switchToHttp().getRequest<Request>().headers[name]);
  if (value === 'bad') throw faulty(`/headers/${name}`);
  return value;
});

/** Reads the whole path. */
const PathOf = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  return context.switchToHttp().getRequest<Request>().path;
});

/** Refuses routes that are marked `closed`. */
@Injectable()
class ToyGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getClass() !== ToyController) throw new Error('asked for another class');
    return Reflect.getMetadata('closed', context.getHandler()) !== true;
  }
}

@Controller('toys/:kind')
class ToyController {
  @Get('cold')
  cold(): object {
    return { cold: true };
  }

  @Hot()
  @Get('first')
  first(@PathParam('kind') kind: string): object {
    return { first: kind };
  }

  @Hot()
  @HttpCode(203)
  @Get(':id')
  find(@PathParam('kind') kind: string, @PathParam('id') id: string): JsonText {
    return new JsonText(JSON.stringify({ kind, id }), { etag: '"tag"', cacheControl: 'private' });
  }

  @Hot()
  @Post()
  make(
    @HeaderLater('x-first') first: string,
    @PathParam('kind') kind: string,
    @Res({ passthrough: true }) response: Response,
    @HeaderLater('x-second') second: string,
  ): object {
    if (first === 'again') response.status(200);
    return { kind, first, second };
  }

  @Hot()
  @Post('closed')
  @SetMetadata('closed', true)
  closed(): void {}

  @Hot()
  @Post('nothing')
  nothing(): void {}

  @Get('files/cold/:id')
  coldFile(@PathParam('id') id: string): object {
    return { cold: id };
  }

  @Hot()
  @Get('files/*path')
  file(@PathOf() path: string): PublicFile {
    return new PublicFile('text/plain; charset=utf-8', `ü ${path}`, 'no-store', path.endsWith('gone') ? 404 : 200);
  }

  @Hot()
  @Get(':id/parts')
  parts(@PathParam('id') id: string): TextStream {
    return jsonStream('{"items":', [[JSON.stringify(id)]], '}');
  }

  @Hot()
  @Get(':id/failure')
  async fail(@PathParam('id') id: string): Promise<object> {
    throw new Error(id);
  }
}

const logger = createLogger({ name: 'spec', level: 'silent' }, { write: () => undefined });
const ADDRESSES = new ClientAddresses([], () => undefined);
let app: NestExpressApplication | undefined;

async function start(controllers: Type[], providers: Provider[] = []): Promise<string> {
  @Module({
    controllers,
    providers: [
      ...[AccessLog, RouteTable, MetadataScanner, HandlerChain, HotLane],
      { provide: LOGGER, useValue: logger },
      { provide: Registry, useValue: new Registry() },
      { provide: APP_FILTER, useClass: ErrorFilter },
      { provide: ClientAddresses, useValue: ADDRESSES },
      { provide: AnonymousRequests, useValue: new AnonymousRequests(0, ADDRESSES) },
      ...providers,
    ],
  })
  class ToyModule {}
  app = await NestFactory.create<NestExpressApplication>(
    ToyModule,
    new JsonAdapter({ connections: DEFAULT_CONNECTION_LIMITS, corsOrigins: [] }),
    {
      logger: false,
      bodyParser: false,
      abortOnError: false,
    },
  );
  const express: unknown = app.getHttpAdapter().getInstance();
  // The toy routes use no other settings.
  Object.assign(Object(express).request, { settings: { limiter: { window: { limit: 0 } } } });
  app.use(requestIdMiddleware, standingHeadersMiddleware);
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

afterEach(() => app?.close());

describe('a route that is @Hot()', () => {
  it.each<[string, 'GET' | 'POST', string, number, Record<string, string>?]>([
    ['an object', 'GET', '/toys/car/first', 200],
    ['text, by the status that it names', 'GET', '/toys/car/7', 203],
    ['text that its caller has', 'GET', '/toys/car/7', 304, { 'if-none-match': '"tag"' }],
    ['a route before it that fits the path too', 'GET', '/toys/car/cold', 200],
    ['parts', 'GET', '/toys/car/7/parts', 200],
    ['a file', 'GET', '/toys/car/files/1', 200],
    ['a file below folders', 'GET', '/toys/car/files/1/2//3', 200],
    ['a file that is not there', 'GET', '/toys/car/files/gone', 404],
    ['a file with an encoded name', 'GET', '/toys/car/files/%41', 200],
    ['a file whose name cannot be decoded', 'GET', '/toys/car/files/%ff', 400],
    ['no file', 'GET', '/toys/car/files/', 203],
    ['a route before a file’s that fits the path too', 'GET', '/toys/car/files/cold/1', 200],
    ['a route behind a file’s that fits the path too', 'GET', '/toys/car/files/parts', 200],
    ['nothing', 'POST', '/toys/car/nothing', 201],
    ['with what takes a while to read', 'POST', '/toys/car', 201, { 'x-first': '1', 'x-second': '2' }],
    ['by the status that its method sets', 'POST', '/toys/car', 200, { 'x-first': 'again' }],
    ['a faulty parameter', 'GET', '/toys/bad/7', 400],
    ['two faulty parameters', 'GET', '/toys/bad/bad', 400],
    ['faults of which some are found at once', 'POST', '/toys/bad', 400, { 'x-first': 'bad', 'x-second': 'bad' }],
    ['two faults that are found later', 'POST', '/toys/car', 400, { 'x-first': 'bad', 'x-second': 'bad' }],
    ['a guard that says no', 'POST', '/toys/car/closed', 500],
    ['a failure', 'GET', '/toys/car/7/failure', 500],
  ])('is answered alike both ways: %s', async (_, method, path, status, given = {}) => {
    const url = await start([ToyController], [{ provide: APP_GUARD, useClass: ToyGuard }]);
    const answerTo = async (address: string) => {
      const answer = await send(`${url}${address}`, { method, headers: { 'x-request-id': 'the-same', ...given } });
      const headers = Object.entries(answer.headers).filter(([name]) => name !== 'date');
      return { status: answer.statusCode, headers, body: await answer.body.text() };
    };
    const hot = await answerTo(path);
    expect(hot.status).toBe(status);
    expect(hot).toEqual(await answerTo(`${path}?`));
  });

  const ofParameter = (parameter: ParameterDecorator): Type => {
    @Controller('toys')
    class Toy {
      @Hot()
      @Get()
      get(@parameter _given: unknown): void {}
    }
    return Toy;
  };
  const ofMethod = (decorator: MethodDecorator, scope = Scope.DEFAULT): Type => {
    @Controller({ path: 'toys', scope })
    class Toy {
      @Hot()
      @decorator
      get(): void {}
    }
    return Toy;
  };
  const get = Get();
  const both =
    (one: MethodDecorator): MethodDecorator =>
    (target, key, descriptor) => {
      get(target, key, descriptor);
      one(target, key, descriptor);
    };
  @Injectable()
  class Nothing implements CanActivate, PipeTransform, NestInterceptor {
    canActivate = () => true;
    transform = (value: unknown) => value;
    intercept: NestInterceptor['intercept'] = (_context, next) => next.handle();
  }

  it.each<[string, Type]>([
    ['@UseGuards', ofMethod(both(UseGuards(Nothing)))],
    ['@UsePipes', ofMethod(both(UsePipes(Nothing)))],
    ['@UseInterceptors', ofMethod(both(UseInterceptors(Nothing)))],
    ['@Header', ofMethod(both(Header('X-Toy', 'car')))],
    ['methods other than GET and POST', ofMethod(Put())],
    ['controllers that are made for each request', ofMethod(get, Scope.REQUEST)],
    ['parameters other than those of createParamDecorator', ofParameter(Param('id'))],
    ['parameters other than those of createParamDecorator', ofParameter(Query())],
    ['@Res({ passthrough: true })', ofParameter(Res())],
    ['pipes of parameters', ofParameter(PathParam('id', Nothing))],
  ])('is refused where the lane would leave something out: %s', async (what, controller) => {
    await expect(start([controller])).rejects.toThrow(what);
  });

  it.each<[string, Provider]>([
    ['APP_PIPE', { provide: APP_PIPE, useClass: Nothing }],
    ['APP_INTERCEPTOR', { provide: APP_INTERCEPTOR, useClass: Nothing }],
    ['APP_GUARD that is made for each request', { provide: APP_GUARD, useClass: Nothing, scope: Scope.REQUEST }],
  ])('is refused beside an %s', async (what, provider) => {
    await expect(start([ofMethod(get)], [provider])).rejects.toThrow(what);
  });
});
