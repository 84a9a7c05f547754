import { readdirSync, readFileSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { LOGGER, type Logger } from '@iss/platform';
import type { GatewaySettings } from '../../settings';
import { allowSignInWindow } from '../answer/standing-headers';
import { AnonymousRequests } from '../limits/anonymous-requests';
import { ClientAddresses } from '../request/client-address';

/** The built files of `apps/console`. The path is correct from `src` and from `dist`. */
const FOLDER = join(__dirname, '../../../../../apps/console/dist');
const PAGE = 'index.html';
const SETTINGS_PATH = '/settings.json';
/** The page to which the issuer redirects after sign-in. */
const RETURN_PATH = '/signed-in';
const VERIFY_PATH = '/verify';
/** The view of that page in the list of files that Vite writes. */
const VERIFY_VIEW = 'src/features/verify/verify-view.tsx';
const LIST_OF_FILES = 'files.json';
/**
 * Factor on the anonymous rate limit for files of the console, so that two hundred people can open it within a minute.
 */
const OFFICE = 100;
const YEAR_MS = 365 * 24 * 3_600_000;

/** The build writes each file together with its compressed forms. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Allows no inline code, no host other than the issuer (for tokens), and no markup from text. */
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
 * Serves the console at `/console`: its built files, which are cached permanently, and the page for every other address.
 * `settings.json` tells the page how to sign in. Its requests are counted per address, separately from other
 * requests, because a whole office may use one address. `CONSOLE=off` disables it.
 */
export function setUpConsole(app: INestApplication, settings: GatewaySettings): void {
  if (!settings.console.isOn) return;
  const files = builtFiles(FOLDER);
  if (!files.has(PAGE)) {
    app.get<Logger>(LOGGER).warn(`There is no console: ${FOLDER} is empty. Run npm run build, or set CONSOLE=off.`);
    return;
  }
  const policy = contentSecurityPolicy(settings);
  const { clientId, scope } = settings.console;
  const { mode, issuer, projectId } = settings.auth;
  const verifyLinks = linksOfVerify();
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
    if (request.path === VERIFY_PATH) response.setHeader('Link', verifyLinks);
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

/** A file in Vite's list, by its source. `imports` names the sources of other files. */
interface ListedFile {
  file: string;
  imports?: readonly string[];
  dynamicImports?: readonly string[];
  css?: readonly string[];
}

/**
 * Returns the `Link` header (RFC 8288) of the page that verifies proofs. By it the browser loads the files of the view and the keys
 * of the log together with the first script, which would ask for them only when it runs.
 */
function linksOfVerify(): string {
  const listed: Readonly<Record<string, ListedFile>> = JSON.parse(readFileSync(join(FOLDER, LIST_OF_FILES), 'utf8'));
  const seen = new Set<string>();
  const linksOf = (source: string): string[] => {
    const found = listed[source];
    if (found === undefined || seen.has(source)) return [];
    seen.add(source);
    return [
      `</console/${found.file}>; rel=modulepreload`,
      ...(found.css ?? []).map((sheet) => `</console/${sheet}>; rel=preload; as=style`),
      ...(found.imports ?? []).flatMap(linksOf),
    ];
  };
  // The head of the page names these files.
  for (const source of [PAGE, ...(listed[PAGE]?.dynamicImports ?? [])]) linksOf(source);
  return ['</log/keys>; rel=preload; as=fetch; crossorigin', ...linksOf(VERIFY_VIEW)].join(', ');
}

/** Returns the names of the files below the folder, with `/` as separator. Other names are not served. */
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
