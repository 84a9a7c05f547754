import { randomBytes } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import type { Schema } from '@iss/domain';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { OPERATIONS } from '@iss/contract';
import { documentOf } from '../describe/openapi-document';
import { routeOf } from '../describe/operation.decorator';
import { RouteTable } from '../errors/route-table';
import type { GatewaySettings } from '../../settings';
import { allowSignInWindow } from '../answer/standing-headers';
import { AnonymousRequests } from '../limits/anonymous-requests';
import { cachedPage } from './cached-page';
import { DocumentPages, filesOfDocuments, ROOT } from './pages';
import { SWAGGER_UI_PLUGINS } from './swagger-ui-plugins';

/**
 * Returns the policy of Swagger UI's page. Its own styles need the nonce, and it connects only to this service and the
 * issuer.
 */
function contentSecurityPolicy(issuer: string, nonce: string): string {
  const connect = ["'self'", ...(URL.canParse(issuer) ? [new URL(issuer).origin] : [])].join(' ');
  return [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Adds the nonce to each style of the sent pages. Removes the one style attribute, because a nonce cannot allow it. */
function sendWithNonces(response: Response, nonce: string): void {
  const send = response.send.bind(response);
  response.send = (body: unknown): Response =>
    send(
      typeof body === 'string'
        ? body.replaceAll('<style>', `<style nonce="${nonce}">`).replace(HIDDEN_BY_STYLE, 'width="0" height="0"')
        : body,
    );
}
const HIDDEN_BY_STYLE = 'style="position:absolute;width:0;height:0"';

/** Swagger UI is a public client: it has no secret to ask for. */
const WITHOUT_SECRET = `.dialog-ux .wrapper:has(> label[for^="client_secret"]) { display: none; }`;

/** The specification's headings, in its order. */
const TAGS = {
  Utility: 'Health, readiness and metadata of the service itself.',
  'Tenants, members, principals': 'Workspaces, their members and roles, the subjects that they own, and their usage.',
  'Initial state': 'The first snapshot of a subject. The tenant that writes it becomes the subject’s owner.',
  Updates: 'Later versions, written as RFC 6902 patches: first proposed, then applied.',
  'Snapshot reads':
    'The latest version, a version by number or id, history, proofs and export. Each read has a form for one ' +
    'tenant, and a global form that uses any tenant of the caller that has access.',
  Diff: 'The difference between two snapshots of a subject.',
  Grants: 'Permissions for another tenant to read a subject, with named scopes.',
  'Refresh requests': 'Requests to the owner to publish a newer snapshot, or to confirm the latest one.',
  'Webhook subscriptions':
    'Signed notifications of events, and the log of their deliveries. See [/docs/webhooks](/docs/webhooks).',
  'Change feed':
    'All changes to subjects that a tenant owns or may read, in one lasting order. Read them in pages, wait ' +
    'for new ones, or stream them. See [/docs/feed](/docs/feed).',
  Erasure:
    'Destroys the content of versions after two people of the owner agree. The proof of an erased version ' +
    'stays. See [/docs/erasure](/docs/erasure).',
  'Transparency log':
    'Proofs that stored facts have not changed: signed checkpoints, hash tiles, and the place of each fact in ' +
    'the log. See [/docs/log](/docs/log).',
  Records: 'Disclosures of versions to other tenants, and the audit records of changes in a tenant.',
  Attestations:
    'Credentials of others as evidence: the issuers that a tenant trusts, and the credentials that the service verified. ' +
    'See [/docs/how-to/attestations](/docs/how-to/attestations).',
  Credentials:
    'Signed credentials of versions, the keys that sign them, and the lists that say which are still valid. See ' +
    '[/docs/how-to/issue-credentials](/docs/how-to/issue-credentials).',
  'Transfer offers': 'Hands the ownership of a tenant to another principal, if both agree.',
};

const DESCRIPTION =
  'Business identity state as immutable, hash-chained snapshots, with one chain per subject.\n\nEvery ' +
  'response is JSON and carries `X-Request-Id`. All errors have the same shape; ' +
  '[/docs/errors](/docs/errors) explains each\n`code`. A list returns `next_cursor`, which is null on the ' +
  'last page. A POST with an `Idempotency-Key` is safe to retry.\n[/docs/webhooks](/docs/webhooks) describes ' +
  'the requests that webhook receivers get, and how to verify ' +
  'them.\n[/docs/how-to/model](/docs/how-to/model) shows how to model a subject.';

/** The messages to receivers, by event type: the `webhooks` of OpenAPI 3.1. */
export type Webhooks = Readonly<Record<string, Schema>>;

/** Returns the OpenAPI 3.1 description of every route and webhook. */
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
  const routes = new Set(
    app
      .get(RouteTable)
      .routes()
      .map(({ method, path }) => `${method.toLowerCase()} ${path}`),
  );
  const operations = Object.values(OPERATIONS).filter((one) => routes.has(`${one.method} ${routeOf(one)}`));
  return documentOf(builder.build(), operations, webhooks, settings.limits);
}

/** Pages without a guard. Their readers are anonymous. */
const OPEN_PAGES = ['/docs', '/openapi.json', '/openapi.yaml', '/oauth2-redirect.html'];
/** The page to which the issuer redirects after sign-in. */
const RETURN_PATH = '/oauth2-redirect.html';

/**
 * Serves the documents of the repository below `/docs`. Unless `DOCS=off`, also serves `/openapi.json`, `/openapi.yaml`
 * and Swagger UI with a real sign-in at `/docs`. Swagger UI keeps a token only in the page's memory. `/` redirects to
 * the console or to the documents.
 */
export function setUpDocs(app: INestApplication, settings: GatewaySettings, webhooks: Webhooks): void {
  const anonymous = app.get(AnonymousRequests);
  app.use(OPEN_PAGES, (request: Request, response: Response, next: NextFunction) => {
    anonymous.count(request, response);
    next();
  });
  app.use('/docs', (request: Request, response: Response, next: NextFunction) => {
    const nonce = randomBytes(16).toString('base64');
    response.setHeader('Content-Security-Policy', contentSecurityPolicy(settings.auth.issuer, nonce));
    allowSignInWindow(response, request.path === RETURN_PATH);
    sendWithNonces(response, nonce);
    next();
  });
  const api = settings.docs.isOn ? { API: '/docs' } : {};
  const console = settings.console.isOn ? { Console: '/console' } : {};
  app.use('/docs', documents(new DocumentPages({ ...api, ...console })));
  app.use((request: Request, response: Response, next: NextFunction) => {
    if (request.path !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    response.redirect(settings.console.isOn ? '/console' : `/docs/${settings.docs.isOn ? '' : 'README'}`);
  });
  if (!settings.docs.isOn) return;
  // At the address /docs, Swagger UI assumes that its files are in the parent folder, and sends the issuer a redirect
  // address there.
  app.use(RETURN_PATH, (request: Request, response: Response) => {
    allowSignInWindow(response, true);
    response.redirect(`/docs${RETURN_PATH}${request.originalUrl.slice(RETURN_PATH.length)}`);
  });
  for (const path of ['/openapi.json', '/openapi.yaml', '/docs/swagger-ui-init.js']) app.use(path, cachedPage());
  // Described at the first request, because it takes a tenth of the gateway's start.
  SwaggerModule.setup('docs', app, () => describe(app, settings, webhooks), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Identity State Service',
    customCss: WITHOUT_SECRET,
    swaggerOptions: {
      displayRequestDuration: true,
      plugins: SWAGGER_UI_PLUGINS,
      initOAuth: { clientId: settings.docs.clientId, usePkceWithAuthorizationCodeGrant: true, scopes: ['openid'] },
    },
  });
}

/** Serves pages, their images and programs, and the search. Leaves other addresses to Swagger UI. */
function documents(pages: DocumentPages): (request: Request, response: Response, next: NextFunction) => void {
  const files = filesOfDocuments();
  return (request, response, next) => {
    if (request.path === '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    const address = request.path.slice(1);
    const file = files.get(address);
    if (file !== undefined) {
      if (!/\.(png|svg)$/.test(file)) response.type('text/plain');
      return response.sendFile(file, { root: ROOT });
    }
    const { q: query } = request.query;
    const page = address === 'search' ? pages.search(typeof query === 'string' ? query : '') : pages.render(address);
    if (page === undefined) return next();
    response.type('html').send(page);
  };
}
