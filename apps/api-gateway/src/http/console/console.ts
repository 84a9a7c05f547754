import { readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { LOGGER, type Logger } from '@iss/platform';
import type { GatewaySettings } from '../../settings';
import { allowSignInWindow } from '../answer/standing-headers';
import { AnonymousRequests } from '../limits/anonymous-requests';
import { ClientAddresses } from '../request/client-address';

/** What the build made of `apps/console`, seen from here as source and as built alike. */
const FOLDER = join(__dirname, '../../../../../apps/console/dist');
const PAGE = 'index.html';
const SETTINGS_PATH = '/settings.json';
/** The page to which the issuer sends people back. */
const RETURN_PATH = '/signed-in';
/** Requests for files of the console, beside one of the API: two hundred people open it within a minute. */
const OFFICE = 100;
const YEAR_MS = 365 * 24 * 3_600_000;

/** A file of the build is made beside its compressed forms. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Nothing inline, no other host but the issuer, which tokens are asked of, and no markup made of text. */
function contentSecurityPolicy({ auth }: GatewaySettings): string {
  const issuer = URL.canParse(auth.issuer) ? ` ${new URL(auth.issuer).origin}` : '';
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "worker-src 'self'",
    `connect-src 'self'${issuer}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types console',
  ].join('; ');
}

/**
 * Serves the console at `/console`: its files as they were built, hashed and for ever, the page for every address of a
 * view, and `settings.json`, by which the page knows who signs in. Its requests count by address, for themselves: an office of
 * people opens it from one. `CONSOLE=off` switches it off.
 */
export function setUpConsole(app: INestApplication, settings: GatewaySettings): void {
  if (!settings.console.isOn) return;
  const files = builtFiles(FOLDER);
  if (!files.has(PAGE)) {
    app
      .get<Logger>(LOGGER)
      .warn(`There is no console: ${FOLDER} is empty. npm run build makes it; CONSOLE=off expects none.`);
    return;
  }
  const policy = contentSecurityPolicy(settings);
  const { clientId, scope } = settings.console;
  const { mode, issuer, projectId } = settings.auth;
  const requests = new AnonymousRequests(settings.anonymousRateLimitPerMinute * OFFICE, app.get(ClientAddresses));
  const pageSettings =
    mode === 'disabled'
      ? { auth: 'disabled' }
      : { auth: 'oidc', issuer, project_id: projectId, client_id: clientId, scope };

  app.use('/console', (request: Request, response: Response, next: NextFunction) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    requests.count(request, response);
    if (request.path.startsWith('/assets/')) {
      const name = request.path.slice(1);
      return files.has(name) ? sendBuilt(files, name, request, response) : next();
    }
    if (request.path === SETTINGS_PATH) {
      response.setHeader('Cache-Control', 'no-store');
      return void response.json(pageSettings);
    }
    response.setHeader('Content-Security-Policy', policy);
    allowSignInWindow(response, request.path === RETURN_PATH);
    return sendBuilt(files, PAGE, request, response);
  });
}

function sendBuilt(files: ReadonlySet<string>, name: string, request: Request, response: Response): void {
  response.vary('Accept-Encoding');
  const [encoding, suffix] =
    ENCODINGS.find(([one, end]) => files.has(name + end) && request.acceptsEncodings(one) === one) ?? [];
  if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
  response.type(name.slice(name.lastIndexOf('.')));
  const lasting = name === PAGE ? { maxAge: 0 } : { maxAge: YEAR_MS, immutable: true };
  response.sendFile(name + (suffix ?? ''), { root: FOLDER, ...lasting });
}

/** Names below the folder, with `/` between their parts: what is not among them is not served. */
function builtFiles(folder: string): ReadonlySet<string> {
  try {
    const entries: Dirent[] = readdirSync(folder, { recursive: true, withFileTypes: true });
    return new Set(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(folder.length + 1)
            .replaceAll('\\', '/'),
        ),
    );
  } catch {
    return new Set();
  }
}
