import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { repositoryRoot } from '../root.ts';
import { chartFolder, defaultValues, overlaid } from './chart.ts';
import type { Fields } from './go-template.ts';

export const schemaFile = join(chartFolder, 'values.schema.json');

/** Variables that `config` may not set: only `npm start` reads them, or a separate value sets them. */
const NOT_IN_CONFIG = [
  /^(DATA_DIR|IDP_PORT|INBOX_PORT|SEED|WITNESS_PORT|WORKER_METRICS_PORT|LEGACY_TENANT_OWNER|AUTH_MODE)$/,
  /^(APP_ENV|MAX_GATEWAYS|MAX_WORKERS|PORT|WORKER_PORT|METRICS_PORT|SHUTDOWN_TIMEOUT_MS|DRAIN_DELAY_MS|QUEUE_BACKEND|OIDC_ISSUER|OIDC_PROJECT_ID)$/,
  /^(TRUSTED_PROXIES|LOG|LOG_ORIGIN|LOG_POLICY_FILE|LOG_CHECKPOINT_FILE|BUILD_GIT_SHA|BUILD_AT|OTEL_EXPORTER_OTLP_ENDPOINT)$/,
];

/** Variables that Node itself and the client of S3 read. */
export const OF_NODE = [
  'NODE_OPTIONS',
  'NODE_USE_ENV_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'AWS_REGION',
  'AWS_ENDPOINT_URL_S3',
];

/** Returns the schema of the chart's values, with the names of variables from .env.example. */
export function valuesSchema(): string {
  const schema: { definitions: { variables: { propertyNames: { enum: string[] } } } } = JSON.parse(
    readFileSync(schemaFile, 'utf8'),
  );
  const known = Object.keys(parseEnv(readFileSync(join(repositoryRoot, '.env.example'), 'utf8')));
  // A variable that can be read from a file is a secret.
  const isSecret = (name: string): boolean =>
    known.includes(`${name.replace(/_FILE$/, '')}_FILE`) && known.includes(name.replace(/_FILE$/, ''));
  schema.definitions.variables.propertyNames.enum = [
    ...known.filter((name) => !isSecret(name) && !NOT_IN_CONFIG.some((names) => names.test(name))).sort(),
    ...OF_NODE,
  ];
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Compiled schemas by text, since `npm run generate -- manifests` writes the schema before it uses it. */
const checks = new Map<string, ValidateFunction>();

/** Returns the faults for which Helm would refuse the values, one per line. */
export function faultsOf(values: Fields): string[] {
  const schema = readFileSync(schemaFile, 'utf8');
  const check = checks.get(schema) ?? new Ajv({ allErrors: true, strict: false }).compile(JSON.parse(schema));
  checks.set(schema, check);
  if (check(overlaid(defaultValues(), values)) === true) return [];
  // A fault of a name is reported once, at the name.
  return (check.errors ?? []).filter(({ propertyName }) => propertyName === undefined).map(faultOf);
}

function faultOf({ keyword, instancePath, message, params }: ErrorObject): string {
  const below = (name: unknown): string => `${instancePath}/${String(name)}`.slice(1).replaceAll('/', '.');
  switch (keyword) {
    case 'additionalProperties':
      return `${below(params['additionalProperty'])} is no value of this chart`;
    case 'propertyNames':
      return `${below(params['propertyName'])} is no variable that can be set here`;
    case 'required':
      return `${below(params['missingProperty'])} is missing`;
    default:
      return `${instancePath.slice(1).replaceAll('/', '.')} ${message ?? 'is not what it should be'}`;
  }
}
