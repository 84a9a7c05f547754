import { parseArgs } from 'node:util';
import { reportError, UserError } from '../processes.ts';
import { dataFolderPath, loadDotEnv, openSecrets, requireRun } from './data-folder.ts';
import { mintToken } from './identity-provider.ts';

const USAGE = 'Usage: npm run -s token -- NAME [--type human|service_account|ai_agent] [--expires SECONDS]';
const TYPES = ['human', 'service_account', 'ai_agent'];

/** `npm run -s token -- NAME`: prints an access token of a development user. */
try {
  loadDotEnv();
  const { user, principalType, expiresInSeconds } = readArguments();
  const { status, audience, own_issuer: ownIssuer } = requireRun();
  if (!ownIssuer) throw new UserError(`Only ${status.issuer} (OIDC_ISSUER) issues tokens for this run.`);
  const { signing_key: signingKey } = await openSecrets(dataFolderPath());
  console.log(await mintToken({ issuer: status.issuer, audience, signingKey, user, principalType, expiresInSeconds }));
} catch (error) {
  process.exitCode = reportError(error);
}

function readArguments(): { user: string; principalType: string; expiresInSeconds: number } {
  const { values, positionals } = parse();
  const { type: principalType = 'human', expires = '3600' } = values;
  const [user] = positionals;
  // A negative number makes an expired token, to try out the response of the service.
  const valid =
    user !== undefined && positionals.length === 1 && TYPES.includes(principalType) && /^-?\d{1,9}$/.test(expires);
  if (!valid) throw new UserError(USAGE);
  return { user, principalType, expiresInSeconds: Number(expires) };
}

/** Joins `--expires -100` to `--expires=-100`, since the parser would read a separate negative number as an option. */
function joinSigned(argument: string, at: number, all: readonly string[]): string[] {
  if (at > 0 && all[at - 1] === '--expires') return [];
  return argument === '--expires' ? [`--expires=${all[at + 1] ?? ''}`] : [argument];
}

function parse() {
  try {
    return parseArgs({
      args: process.argv.slice(2).flatMap(joinSigned),
      allowPositionals: true,
      options: { type: { type: 'string' }, expires: { type: 'string' } },
    });
  } catch {
    throw new UserError(USAGE);
  }
}
