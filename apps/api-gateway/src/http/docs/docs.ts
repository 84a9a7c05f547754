import type { INestApplication } from '@nestjs/common';
import type { Schema } from '@iss/domain';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { ERRORS_PATH } from '../errors/error-statuses';
import { completeDocument } from '../describe/openapi-document';
import type { GatewaySettings } from '../../settings';
import { AnonymousRequests } from '../limits/anonymous-requests';
import { keptPage } from './kept-page';
import { renderPage } from './pages';
import { SWAGGER_UI_PLUGINS } from './swagger-ui-plugins';

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

/** The specification's headings, in its order. */
const TAGS = {
  Utility: 'What probes, operators and integrators ask of the process itself.',
  'Tenants, members, principals':
    'Workspaces, who belongs to them in which role, what they own and how much they write.',
  'Initial state': "A subject's first snapshot, which makes the writing tenant its owner.",
  Updates: 'Later versions: RFC 6902 patches that are proposed, then applied.',
  'Snapshot reads':
    'Latest, by version, by id, history, proofs, export. Each in a tenant-scoped form, and in a global one that answers for any tenant of the caller that may read.',
  Diff: 'What changed between two snapshots of a subject.',
  Grants: 'Lets another tenant read a subject, with named scopes.',
  'Refresh requests': 'Asks the owner for a newer snapshot, or to confirm the latest one.',
  'Webhook subscriptions': 'Signed notifications of events, and the log of their deliveries.',
  'Change feed':
    'What changed of all that a tenant owns or may read, in one order, for ever: by pages, by waiting, or as a stream.',
  Erasure:
    'Destroys what versions of a subject say, when two people of its owner want it; what was erased stays provable.',
  'Transparency log':
    'Proofs that what was answered has not been changed since: signed checkpoints, tiles of hashes, and the place of each fact among them.',
  Records: 'Who of other tenants was shown which versions of a subject, and who changed what in a tenant.',
  'Transfer offers': 'Hands the ownership of a tenant over, with the consent of both sides.',
};

const DESCRIPTION = `Business identity state as immutable, hash-chained snapshots, one chain a subject.

Every answer is JSON and carries \`X-Request-Id\`. Every error has one shape; what its \`code\` means stands at
[/docs/errors](/docs/errors). A list answers \`next_cursor\`; null is the end. A POST with an \`Idempotency-Key\` is safe
to send again. What arrives at the receivers of webhooks, and how to verify it, stands at
[/docs/webhooks](/docs/webhooks).`;

/** What receivers get of the service, by type of event: the `webhooks` of OpenAPI 3.1. */
export type Webhooks = Readonly<Record<string, Schema>>;

/** The OpenAPI 3.1 description of every route and of every webhook. */
export function describe(app: INestApplication, settings: GatewaySettings, webhooks: Webhooks): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Identity State Service')
    .setDescription(DESCRIPTION)
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
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    // What a generated client calls its method: all controllers together name each only once.
    operationIdFactory: (_controller, method) => method,
  });
  Object.assign(document, { webhooks });
  completeDocument(document, settings.limits, settings.auth.mode === 'oidc');
  return document;
}

const WEBHOOKS_PATH = '/docs/webhooks';
/** Where no guard stands: who reads here is nobody in particular. */
const OPEN_PAGES = ['/docs', '/openapi.json', '/openapi.yaml', '/oauth2-redirect.html'];

/**
 * Serves `/openapi.json`, `/openapi.yaml`, Swagger UI with a real sign-in at `/docs`, and the pages of the repository's
 * `docs/` that integrators need.
 */
export function setUpDocs(app: INestApplication, settings: GatewaySettings, webhooks: Webhooks): void {
  const policy = contentSecurityPolicy(settings.auth.issuer);
  const anonymous = app.get(AnonymousRequests);
  app.use(OPEN_PAGES, (request: Request, response: Response, next: NextFunction) => {
    anonymous.count(request, response);
    next();
  });
  app.use('/docs', (_request: Request, response: Response, next: NextFunction) => {
    response.setHeader('Content-Security-Policy', policy);
    next();
  });
  // Opened as /docs, Swagger UI takes the page's parent for its own folder and names this address to the issuer.
  app.use('/oauth2-redirect.html', (request: Request, response: Response) => {
    response.redirect(`/docs/oauth2-redirect.html${request.originalUrl.slice('/oauth2-redirect.html'.length)}`);
  });
  for (const [path, name] of [
    [ERRORS_PATH, 'errors'],
    [WEBHOOKS_PATH, 'webhooks'],
  ] as const) {
    const page = renderPage(name);
    app.use(path, (_request: Request, response: Response) => response.type('html').send(page));
  }
  for (const path of ['/openapi.json', '/openapi.yaml', '/docs/swagger-ui-init.js']) app.use(path, keptPage());
  const document = describe(app, settings, webhooks);
  SwaggerModule.setup('docs', app, document, {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Identity State Service',
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      plugins: SWAGGER_UI_PLUGINS,
      initOAuth: { clientId: settings.docsClientId, usePkceWithAuthorizationCodeGrant: true, scopes: ['openid'] },
    },
  });
}
