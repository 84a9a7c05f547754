import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { importJWK, SignJWT, type JWK } from 'jose';
import type { Context, errors as providerErrors, interactionPolicy, Provider } from 'oidc-provider';
import { LONG_LIVED } from '../processes.ts';
import { listenOnLoopback, readBody, sendHtml, stopServers } from './loopback-server.ts';
import { escapeHtml, page } from './page.ts';
import { DEVELOPERS } from './world/people.ts';

export const SWAGGER_CLIENT_ID = 'swagger-ui';
export const CONSOLE_CLIENT_ID = 'console';
/** The client id of `iss login`. */
const CLI_CLIENT_ID = 'iss';
export const PRINCIPAL_TYPE_CLAIM = 'principal_type';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const TOKEN_LIFETIME_SECONDS = 3600;

export interface IdentityProviderSettings {
  port: number;
  /** The token's `iss` is `http://localhost:{port}/{projectId}`. */
  projectId: string;
  audience: string;
  /** Origins of the gateway, whose Swagger UI and console sign in here. */
  gatewayOrigins: string[];
  signingKey: JWK;
  cookieKey: string;
}

/**
 * Starts an OpenID Connect provider for development: authorization code with PKCE, a sign-in page that accepts every name, and
 * signed access tokens. Unfinished sign-ins are in memory only, so a restart drops them. The caller provides the key.
 */
export async function startIdentityProvider(settings: IdentityProviderSettings): Promise<{ stop(): Promise<void> }> {
  const mount = `/${settings.projectId}`;
  const issuer = `http://localhost:${settings.port}${mount}`;
  const provider = await withoutNotices(async () => {
    const { errors, interactionPolicy: policy, Provider: OidcProvider } = await import('oidc-provider');
    return new OidcProvider(issuer, configuration(issuer, mount, { errors, policy }, settings));
  });
  provider.on('server_error', (_context, error) => console.error(`identity provider: ${error.message}`));
  const handle = provider.callback();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = request.url ?? '/';
    if (url === '/')
      return sendHtml(response, 200, page('Development identity provider', `<p>Issuer: ${escapeHtml(issuer)}</p>`));
    if (url.startsWith(`${mount}/sign-in/`)) return answerSignIn(provider, request, response);
    if (!url.startsWith(`${mount}/`))
      return sendHtml(response, 404, page('Not found', `<p>The issuer is ${escapeHtml(issuer)}.</p>`));
    // oidc-provider derives its mount path from these two.
    Object.assign(request, { originalUrl: url, url: url.slice(mount.length) });
    return handle(request, response);
  };
  const servers: Server[] = await listenOnLoopback(settings.port, () =>
    createServer(LONG_LIVED, (request, response) => {
      answer(request, response).catch(() => {
        if (!response.headersSent)
          sendHtml(response, 400, page('Sign-in expired', '<p>Start again from the page you came from.</p>'));
      });
    }),
  );
  return { stop: () => stopServers(servers) };
}

/** Returns an access token as the provider would issue it, without a browser. */
export async function mintToken(options: {
  issuer: string;
  audience: string;
  signingKey: JWK;
  user: string;
  principalType?: string;
  expiresInSeconds?: number;
}): Promise<string> {
  const {
    issuer,
    audience,
    signingKey,
    user,
    principalType = 'human',
    expiresInSeconds = TOKEN_LIFETIME_SECONDS,
  } = options;
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ [PRINCIPAL_TYPE_CLAIM]: principalType, client_id: 'development' })
    .setProtectedHeader({
      alg: 'RS256',
      typ: 'at+jwt',
      ...(signingKey.kid === undefined ? {} : { kid: signingKey.kid }),
    })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(user)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(now + expiresInSeconds)
    .sign(await importJWK(signingKey, 'RS256'));
}

async function answerSignIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const interaction = await provider.interactionDetails(request, response);
  if (request.method !== 'POST')
    return sendHtml(response, 200, signInPage(String(interaction.params['client_id']), ''));
  const user = new URLSearchParams(await readBody(request)).get('user')?.trim() ?? '';
  if (!/^[\w.@+-]{1,100}$/.test(user)) {
    const fault = 'A user name has 1 to 100 letters, digits or . _ @ + -';
    return sendHtml(response, 400, signInPage(String(interaction.params['client_id']), fault));
  }
  return provider.interactionFinished(request, response, { login: { accountId: user, remember: false } });
}

function signInPage(client: string, fault: string): string {
  const buttons = DEVELOPERS.map(
    ([name, what]) => `<p><button name="user" value="${name}">${name}</button> ${escapeHtml(what)}</p>`,
  ).join('');
  const alert = fault === '' ? '' : `<p role="alert" id="fault">${escapeHtml(fault)}</p>`;
  return page(
    'Sign in for development',
    `<p>${escapeHtml(client)} asks you to sign in. This provider is for development: it accepts every name without a password.</p>
    <form method="post"><fieldset><legend>Continue as a seeded user</legend>${buttons}</fieldset></form>
    <form method="post">${alert}<label for="user">Or as another user</label>
    <input id="user" name="user" required maxlength="100" autocomplete="username" autofocus${fault === '' ? '' : ' aria-describedby="fault"'}>
    <button>Sign in</button></form>`,
  );
}

function configuration(
  issuer: string,
  mount: string,
  { errors, policy }: { errors: typeof providerErrors; policy: typeof interactionPolicy },
  settings: IdentityProviderSettings,
): Record<string, unknown> {
  const resource = `${issuer}/api`;
  const resources = [resource, ...settings.gatewayOrigins];
  // A developer who signs in again wants another user. A reloaded page (`prompt=none`) keeps its user.
  const askAlways = new policy.Check(
    'ask_always',
    'The sign-in page is always shown',
    ({ oidc: { result, prompts } }: Context) => result?.login === undefined && !prompts.has('none'),
  );
  return {
    clients: [
      {
        client_id: SWAGGER_CLIENT_ID,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: settings.gatewayOrigins.flatMap((origin) => [
          `${origin}/oauth2-redirect.html`,
          `${origin}/docs/oauth2-redirect.html`,
        ]),
      },
      {
        client_id: CONSOLE_CLIENT_ID,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: settings.gatewayOrigins.map((origin) => `${origin}/console/signed-in`),
      },
      {
        client_id: CLI_CLIENT_ID,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
        response_types: ['code'],
        // A native application may use any loopback port.
        redirect_uris: ['http://127.0.0.1/callback'],
      },
    ],
    clientBasedCORS: (_context: unknown, origin: string) => settings.gatewayOrigins.includes(origin),
    jwks: { keys: [settings.signingKey] },
    cookies: { keys: [settings.cookieKey] },
    pkce: { required: () => true },
    scopes: ['openid', 'profile'],
    claims: { openid: ['sub'], profile: ['name'] },
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, name: sub }) }),
    interactions: {
      url: (_context: unknown, interaction: { uid: string }) => `${mount}/sign-in/${interaction.uid}`,
      policy: [new policy.Prompt({ name: 'login', requestable: true }, askAlways)],
    },
    loadExistingGrant: async (context: Context & { oidc: { provider: Provider } }) => {
      const { client, session, provider } = context.oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid profile');
      for (const one of resources) grant.addResourceScope(one, 'openid profile');
      await grant.save();
      return grant;
    },
    extraTokenClaims: () => ({ [PRINCIPAL_TYPE_CLAIM]: 'human' }),
    issueRefreshToken: async (_context: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed('refresh_token'),
    features: {
      deviceFlow: deviceFlow(),
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, indicator: string) => {
          // Tokens are issued only for the gateway. Another service that names this issuer is refused (RFC 8707, section 2).
          if (!resources.includes(indicator)) throw new errors.InvalidTarget();
          return {
            scope: 'openid profile',
            audience: settings.audience,
            accessTokenTTL: TOKEN_LIFETIME_SECONDS,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          };
        },
      },
    },
    ttl: {
      AccessToken: TOKEN_LIFETIME_SECONDS,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Grant: 30 * 86_400,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 30 * 86_400,
      Session: 3600,
    },
    renderError: async (context: { type: string; body: string }, out: Record<string, string>) => {
      context.type = 'html';
      context.body = page(
        'Sign-in refused',
        `<p>${escapeHtml(`${out['error'] ?? ''}: ${out['error_description'] ?? ''}`)}</p>`,
      );
    },
  };
}

/** The pages of the device flow: one asks for the code, one asks to confirm it. The provider supplies the whole `form`. */
function deviceFlow(): Record<string, unknown> {
  const formWithButton = (form: string, id: string): string =>
    `${form}<button type="submit" form="${id}">Continue</button>`;
  return {
    enabled: true,
    userCodeInputSource: async (context: { body: string }, form: string) => {
      const text = '<p>Enter the code that the device shows.</p>';
      context.body = page('Sign in on a device', text + formWithButton(form, 'op.deviceInputForm'));
    },
    userCodeConfirmSource: async (
      context: { body: string },
      form: string,
      _client: unknown,
      _device: unknown,
      userCode: string,
    ) => {
      const text = `<p>Continue if the device shows <strong>${escapeHtml(userCode)}</strong>.</p>`;
      context.body = page('Sign in on a device', text + formWithButton(form, 'op.deviceConfirmForm'));
    },
    successSource: async (context: { body: string }) => {
      context.body = page('Signed in', '<p>The device is signed in: you can close this page.</p>');
    },
  };
}

/** Suppresses the notices of the package about its memory store and the version of Node. */
async function withoutNotices<T>(create: () => Promise<T>): Promise<T> {
  const { info, warn } = console;
  console.info = console.warn = () => undefined;
  try {
    return await create();
  } finally {
    Object.assign(console, { info, warn });
  }
}
