import { ERROR_CODES, type ErrorCode } from '@iss/domain';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { ERROR_HELP, ERROR_STATUSES } from './http/error-statuses';
import { errorAnswer, type Schema } from './http/openapi';
import type { GatewaySettings } from './settings';

/** Swagger UI is a document with inline styles and scripts of its own; it fetches from itself and the issuer only. */
function contentSecurityPolicy(issuer: string): string {
  const connect = ["'self'", ...(URL.canParse(issuer) ? [new URL(issuer).origin] : [])].join(' ');
  return [
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src ${connect}`,
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The OpenAPI 3.1 description of every route. */
export function describe(app: INestApplication, settings: GatewaySettings): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Identity State Service')
    .setDescription('Business identity state as immutable, hash-chained snapshots, one chain a subject.')
    .setVersion('1.0')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An OIDC access token' });
  if (settings.auth.mode === 'oidc') {
    builder.addSecurity('oidc', {
      type: 'openIdConnect',
      openIdConnectUrl: `${settings.auth.issuer}/.well-known/openid-configuration`,
    });
  }
  const document = SwaggerModule.createDocument(app, builder.build(), { operationIdFactory: operationId });
  nameWhoMayCall(document, settings.auth.mode === 'oidc');
  describeEdge(document);
  nameSchemas(document);
  return document;
}

/** `GrantsController.create` is `grantsCreate`: what a generated client calls its method. */
function operationId(controller: string, method: string): string {
  const resource = controller.replace(/Controller$/, '');
  return `${resource.charAt(0).toLowerCase()}${resource.slice(1)}${method.charAt(0).toUpperCase()}${method.slice(1)}`;
}

/** Moves every schema with a title into the components and leaves a reference. Throws when two differ under one name. */
function nameSchemas(document: OpenAPIObject): void {
  const schemas: Record<string, unknown> = { ...document.components?.schemas };
  const texts = new Map<string, string>();
  const hoist = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hoist);
    if (typeof value !== 'object' || value === null) return value;
    const copy = Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, isData(key) ? member : hoist(member)]),
    );
    const { title } = copy;
    if (typeof title !== 'string' || !('type' in copy)) return copy;
    const text = JSON.stringify(copy);
    if ((texts.get(title) ?? text) !== text) throw new Error(`Two schemas are named ${title}`);
    texts.set(title, text);
    schemas[title] = copy;
    return { $ref: `#/components/schemas/${title}` };
  };
  Object.assign(document, { paths: hoist(document.paths) });
  Object.assign(document, { components: { ...document.components, schemas } });
}

/** Examples are data, whatever their members are called. */
function isData(key: string): boolean {
  return key === 'example' || key === 'examples';
}

/** Whatever takes a bearer token also takes one that Swagger UI obtained by signing in; what takes none says so. */
function nameWhoMayCall(document: OpenAPIObject, canSignIn: boolean): void {
  for (const path of Object.values(document.paths)) {
    for (const operation of [path.get, path.put, path.post, path.patch, path.delete]) {
      if (operation === undefined) continue;
      operation.security ??= [];
      if (operation.security.length > 0 && canSignIn) operation.security.push({ oidc: [] });
    }
  }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request safe to send again: for 24 hours the same key with the same body gives the first answer again, ' +
    'marked `Idempotency-Replayed: true`; with another body, or while the first request runs, 409.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
} as const;
const REPLAYED_HEADER: Record<string, Schema> = {
  'Idempotency-Replayed': {
    description: 'Stands where this is the first answer to its `Idempotency-Key`, sent again.',
    schema: { type: 'string', enum: ['true'] },
  },
};
const seconds = (description: string): Schema => ({ description, schema: { type: 'integer', minimum: 0 } });
const RATE_LIMIT_HEADERS: Record<string, Schema> = {
  'Retry-After': seconds('Seconds to wait.'),
  'RateLimit-Limit': { description: 'Requests a minute.', schema: { type: 'integer', minimum: 1 } },
  'RateLimit-Remaining': { description: 'Requests left in this minute.', schema: { type: 'integer', minimum: 0 } },
  'RateLimit-Reset': seconds('Seconds to the next minute.'),
};

/** What guards do for every route stands in no controller: rate limits, and keys that make a POST safe to send again. */
function describeEdge(document: OpenAPIObject): void {
  const ofEveryPost: ErrorCode[] = ['validation_error', 'conflict', 'payload_too_large'];
  for (const path of Object.values(document.paths)) {
    for (const operation of [path.get, path.put, path.post, path.patch, path.delete]) {
      if (operation?.security === undefined || operation.security.length === 0) continue;
      operation.responses['429'] = { ...errorAnswer('rate_limited'), headers: RATE_LIMIT_HEADERS };
    }
    if (path.post === undefined) continue;
    path.post.parameters = [...(path.post.parameters ?? []), IDEMPOTENCY_KEY];
    const { responses } = path.post;
    for (const [status, response] of Object.entries(responses)) {
      if (status.startsWith('2')) Object.assign(response ?? {}, { headers: REPLAYED_HEADER });
    }
    for (const code of ofEveryPost) responses[ERROR_STATUSES[code]] ??= errorAnswer(code);
  }
}

/** Where the `Link: …; rel="help"` of an error leads, with the code as fragment. */
export const ERRORS_PATH = '/docs/errors';

/** One section for each code; every text is ours, so that there is nothing to escape. */
function errorsPage(): string {
  const sections = ERROR_CODES.map(
    (code) => `<h2 id="${code}">${code}</h2><p><b>${ERROR_STATUSES[code]}.</b> ${ERROR_HELP[code]}</p>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Errors</title><h1>Errors</h1>${sections.join('')}</html>`;
}

/** Serves `/openapi.json`, `/openapi.yaml`, Swagger UI with a real sign-in at `/docs`, and what error codes mean. */
export function setUpDocs(app: INestApplication, settings: GatewaySettings): void {
  const policy = contentSecurityPolicy(settings.auth.issuer);
  app.use('/docs', (_request: Request, response: Response, next: NextFunction) => {
    response.setHeader('Content-Security-Policy', policy);
    next();
  });
  // Opened as /docs, Swagger UI takes the page's parent for its own folder and names this address to the issuer.
  app.use('/oauth2-redirect.html', (request: Request, response: Response) => {
    response.redirect(`/docs/oauth2-redirect.html${request.originalUrl.slice('/oauth2-redirect.html'.length)}`);
  });
  const errors = errorsPage();
  app.use(ERRORS_PATH, (_request: Request, response: Response) => response.type('html').send(errors));
  const document = describe(app, settings);
  SwaggerModule.setup('docs', app, document, {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Identity State Service',
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      initOAuth: { clientId: settings.docsClientId, usePkceWithAuthorizationCodeGrant: true, scopes: ['openid'] },
    },
  });
}
