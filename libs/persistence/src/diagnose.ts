import { DomainError } from '@iss/domain';
import { failureOf, serverUrls } from '@iss/platform';

/** Advice for the operator by error code. `says` distinguishes errors that share a code by their message. */
interface Diagnosis {
  code: RegExp;
  says?: RegExp;
  finding: string;
  advice: string;
}

/**
 * Diagnoses by code: SQLSTATEs (PostgreSQL's documentation, appendix A) and codes of poolers, Node and OpenSSL. The first match
 * applies.
 */
const DIAGNOSES: readonly Diagnosis[] = [
  {
    code: /^(42501|42704|22023|28000)$/,
    says: /permission denied to set role|role "iss_\w+" does not exist|invalid value for parameter "role"/,
    finding: 'the login cannot act as the role of the process',
    advice: 'run npm run db:migrate as the owner of the tables, then GRANT the role that the error names TO the login',
  },
  {
    code: /^28P01$/,
    finding: 'the password is wrong',
    advice: 'check user and password',
  },
  {
    code: /^28000$/,
    says: /no encryption|SSL off/,
    finding: 'the server (pg_hba.conf) requires TLS',
    advice: 'add sslmode=verify-full (and sslrootcert) to the URL',
  },
  {
    code: /^28000$/,
    says: /pg_hba\.conf/,
    finding: 'the server (pg_hba.conf) does not let this login in from this address',
    advice: 'add a line to pg_hba.conf, or use another login',
  },
  { code: /^28/, finding: 'the server refuses the login', advice: 'check that the user exists and may log in' },
  { code: /^3D000$/, finding: 'there is no such database', advice: 'create it, or correct the name in the URL' },
  {
    code: /^53300$/,
    finding: 'the server has no connection left',
    advice: 'lower DATABASE_POOL_SIZE or raise max_connections (docs/operations/high-availability.md, "Connections")',
  },
  {
    code: /^(08P01|08004|0A000|58000)$/,
    says: /startup parameter|startup option|unsupported.*(options|parameter)/i,
    finding: 'a pooler refuses startup options',
    advice: 'connect to PostgreSQL directly, or configure the pooler (docs/operations/high-availability.md, "Poolers")',
  },
  {
    code: /^(42P05|26000)$/,
    finding: 'a transaction-mode pooler mixes up prepared statements',
    advice:
      'use session mode, or PgBouncer 1.21 with max_prepared_statements (docs/operations/high-availability.md, "Poolers")',
  },
  {
    code: /^25006$/,
    finding: 'no server takes writes',
    advice: 'check which server is the primary, and that the URL names it',
  },
  { code: /^57P03$/, finding: 'the server is starting or stopping', advice: 'retry when it accepts connections' },
  { code: /^ECONNREFUSED$/, finding: 'nothing listens there', advice: 'check host and port, and that PostgreSQL runs' },
  { code: /^(ENOTFOUND|EAI_AGAIN)$/, finding: 'the host has no address', advice: 'check the name and the resolver' },
  {
    code: /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    finding: 'the host does not answer',
    advice: 'check address, routes and firewalls',
  },
  {
    code: /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|ERR_TLS)/,
    finding: 'its certificate is not trusted',
    advice: 'name its certificate authority with sslrootcert, and use the host name of the certificate',
  },
];

/** Diagnoses for errors of the driver without a code. */
const UNCODED: readonly Omit<Diagnosis, 'code'>[] = [
  {
    says: /does not support SSL/,
    finding: 'the server does not speak TLS',
    advice: 'enable ssl on the server, or remove sslmode from the URL',
  },
  {
    says: /timeout|terminated/i,
    finding: 'the host does not answer like PostgreSQL',
    advice: 'check address, routes and firewalls, and that PostgreSQL is not hung',
  },
];

const UNKNOWN = { finding: 'the connection failed', advice: 'see the message in parentheses' };

/**
 * Explains to the operator who starts a process why a database cannot be opened. The error has the hosts, the finding, the
 * server's own message and advice. It must not appear in an answer, because it names hosts. It never contains the URL's password.
 */
export function diagnose(error: unknown, url: string): DomainError {
  const { code, message } = failureOf(error);
  const known =
    code === undefined
      ? UNCODED.find(({ says }) => says?.test(message))
      : DIAGNOSES.find((diagnosis) => diagnosis.code.test(code) && (diagnosis.says?.test(message) ?? true));
  const { finding, advice } = known ?? UNKNOWN;
  const serverMessage = code === undefined ? message : `${message}, ${code}`;
  return new DomainError(
    'unavailable',
    `PostgreSQL at ${placeOf(url)}: ${finding} (${serverMessage}): ${advice}.`,
    undefined,
    {
      cause: error,
    },
  );
}

/** Returns `host:port/database` for each host of a URL. */
function placeOf(text: string): string {
  return serverUrls(text)
    .map((url) => URL.parse(url))
    .map((url) => `${url?.host ?? ''}${url?.pathname ?? ''}`)
    .join(' or ');
}
