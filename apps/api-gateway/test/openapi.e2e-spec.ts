import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  Conformance,
  isJson,
  list,
  member,
  type Operation,
  operationsOf,
  resolved,
} from '../../../tools/testing/conformance';
import { exampleOf } from './examples/documented';
import { startGateway } from './gateway';

const FILE = resolve(__dirname, '../../../openapi.json');

let text = '';
let document: unknown;
let operations: Operation[] = [];

beforeAll(async () => {
  const gateway = await startGateway();
  const answer = await gateway.as(null, 'get', '/openapi.json').expect(200);
  text = answer.text.replaceAll(gateway.issuer.issuer, 'https://identity.example.com/project');
  document = JSON.parse(text);
  operations = operationsOf(document);
  await gateway.close();
});

it('the gateway serves the committed openapi.json (npm run generate -- openapi writes it)', () => {
  const formatted = `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  if (process.env['UPDATE_OPENAPI'] === 'true') writeFileSync(FILE, formatted);
  expect(existsSync(FILE) ? readFileSync(FILE, 'utf8') : '').toBe(formatted);
});

const isText = (value: unknown): boolean => typeof value === 'string' && value.length > 0;
const parametersOf = ({ description }: Operation): Record<string, unknown>[] => list(description['parameters']);
const takesToken = ({ description }: Operation): boolean => list(description['security']).length > 0;
const bodyOf = ({ description }: Operation): Record<string, unknown> => member(description, 'requestBody');
const statusesOf = ({ description }: Operation): string[] => Object.keys(member(description, 'responses'));
const isSuccess = (status: string): boolean => status.startsWith('2');
const hasNoBody = (status: string): boolean => status === '204' || status === '304';
const answerOf = ({ description }: Operation, status: string): Record<string, unknown> =>
  resolved(document, member(member(description, 'responses'), status));
const mediaOf = (holder: Record<string, unknown>): Record<string, unknown>[] =>
  Object.values(member(holder, 'content')).filter(isJson);
const hasStatuses = (operation: Operation, ...statuses: string[]): boolean =>
  statuses.every((status) => statusesOf(operation).includes(status));

const TAGS = [
  'Utility',
  'Tenants, members, principals',
  'Initial state',
  'Updates',
  'Snapshot reads',
  'Diff',
  'Grants',
  'Refresh requests',
  'Webhook subscriptions',
  'Change feed',
  'Erasure',
  'Transparency log',
  'Records',
  'Attestations',
  'Credentials',
  'Transfer offers',
];
/** A key of the deployment seals this value, so the test cannot invent one. */
const WITHOUT_EXAMPLE = 'cursor';

/** The members that every operation must have. */
const RULES: [string, (operation: Operation) => boolean][] = [
  ['a summary', ({ description }) => isText(description['summary'])],
  [
    'a description that names the required role or access',
    ({ description }) => /^\*\*(Role|Access):\*\*/.test(String(description['description'])),
  ],
  [
    'one tag, which is a heading of the specification',
    ({ description: { tags } }) => Array.isArray(tags) && tags.length === 1 && TAGS.includes(String(tags[0])),
  ],
  [
    'an operationId that is an identifier',
    ({ description }) => /^[a-z][A-Za-z0-9]*$/.test(String(description['operationId'])),
  ],
  [
    'the parameters of its path, in their order',
    (operation) => {
      const named = parametersOf(operation).filter((parameter) => parameter['in'] === 'path');
      const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      return JSON.stringify(named.map(({ name }) => name)) === JSON.stringify(inPath);
    },
  ],
  [
    'parameters that are named once, and have a description, a type and an example',
    (operation) => {
      const parameters = parametersOf(operation);
      const names = new Set(parameters.map(({ name }) => name));
      return (
        names.size === parameters.length &&
        parameters.every(
          (parameter) =>
            isText(parameter['description']) &&
            isText(member(parameter, 'schema')['type']) &&
            (exampleOf(parameter) === undefined) === (parameter['name'] === WITHOUT_EXAMPLE),
        )
      );
    },
  ],
  [
    'a request body that is a component with an example, if it has a body',
    (operation) =>
      !('requestBody' in operation.description) ||
      (mediaOf(bodyOf(operation)).length === 1 &&
        mediaOf(bodyOf(operation)).every(
          (media) => '$ref' in member(media, 'schema') && Object.keys(member(media, 'examples')).length > 0,
        )),
  ],
  ['at least one success status', (operation) => statusesOf(operation).some(isSuccess)],
  [
    'a description and a schema for every response with a body',
    (operation) =>
      statusesOf(operation).every((status) => {
        const answer = answerOf(operation, status);
        const media = mediaOf(answer);
        return (
          isText(answer['description']) &&
          (hasNoBody(status) ? media.length === 0 : media.length > 0) &&
          media.every((one) => Object.keys(member(one, 'schema')).length > 0)
        );
      }),
  ],
  [
    'an example for every response with a body',
    (operation) => statusesOf(operation).every((status) => mediaOf(answerOf(operation, status)).every(hasExample)),
  ],
  [
    'X-Request-Id on every response',
    (operation) =>
      statusesOf(operation).every((status) => 'X-Request-Id' in member(answerOf(operation, status), 'headers')),
  ],
  [
    'status 400, unless it has no parameters',
    (operation) => parametersOf(operation).length === 0 || hasStatuses(operation, '400'),
  ],
  [
    'statuses 401 and 429, if it requires a token',
    (operation) => !takesToken(operation) || hasStatuses(operation, '401', '429'),
  ],
  [
    'status 429, unless it is a probe',
    (operation) => ['/health', '/v1/ops/readiness'].includes(operation.path) !== hasStatuses(operation, '429'),
  ],
  [
    'statuses 413 and 415, if it has a body',
    (operation) => !('requestBody' in operation.description) || hasStatuses(operation, '413', '415'),
  ],
  [
    'status 503, unless it is the liveness probe',
    (operation) => operation.path === '/health' || hasStatuses(operation, '503'),
  ],
  [
    'neither status 405 nor 431',
    (operation) => !statusesOf(operation).some((status) => ['405', '431'].includes(status)),
  ],
  [
    'Idempotency-Key, if and only if it is a POST with a token and without a stream',
    (operation) =>
      parametersOf(operation).some(({ name }) => name === 'Idempotency-Key') ===
      (operation.method === 'post' &&
        takesToken(operation) &&
        !('application/x-ndjson' in member(bodyOf(operation), 'content'))),
  ],
  [
    'ETag and If-None-Match, if it can return 304',
    (operation) =>
      !hasStatuses(operation, '304') ||
      (parametersOf(operation).some(({ name }) => name === 'If-None-Match') &&
        ['200', '304'].every((status) => 'ETag' in member(answerOf(operation, status), 'headers'))),
  ],
  [
    'Link and both paging parameters, if it is a list',
    (operation) => {
      const names = parametersOf(operation).map(({ name }) => name);
      // The place in a feed is the place in the log, which the reader stores.
      const isList = (names.includes('limit') && !names.includes('after')) || names.includes('cursor');
      return (
        !isList ||
        (names.includes('limit') && names.includes('cursor') && 'Link' in member(answerOf(operation, '200'), 'headers'))
      );
    },
  ],
];

function hasExample(media: Record<string, unknown>): boolean {
  return 'example' in media || Object.keys(member(media, 'examples')).length > 0;
}

it.each(RULES)('every operation has %s', (_, isMet) => {
  const lacking = operations.filter((operation) => !isMet(operation));
  expect(lacking.map(({ method, path }) => `${method.toUpperCase()} ${path}`)).toEqual([]);
});

it('no two operations have the same operationId', () => {
  const ids = operations.map(({ description }) => String(description['operationId']));
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

it('alias paths and alias members are marked as deprecated', () => {
  const deprecated = operations.filter(({ description }) => description['deprecated'] === true);
  expect(deprecated.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'get /v1/entity-states/{snapshot_id}',
    'get /v1/subjects/{subject_type}/{subject_id}/snapshots',
    'get /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/history',
    'post /v1/entity-states',
  ]);
  const aliases = everyObject(document).filter(([, value]) => String(value['description']).startsWith('Alias of'));
  expect(aliases.length).toBeGreaterThan(10);
  expect(aliases.filter(([, value]) => value['deprecated'] !== true).map(([place]) => place)).toEqual([]);
});

it('the resources of the API are schema components', () => {
  expect(Object.keys(member(member(document, 'components'), 'schemas'))).toEqual(
    expect.arrayContaining([
      'Tenant',
      'Principal',
      'Grant',
      'Update',
      'Snapshot',
      'SnapshotHeader',
      'Envelope',
      'Evidence',
      'EvidenceRef',
      'Audit',
      'Verification',
      'DiffResult',
      'DiffVerification',
      'RefreshRequest',
      'WebhookSubscription',
      'Delivery',
      'TransferOffer',
      'Usage',
      'Error',
    ]),
  );
});

it('every reference resolves, and every component is used', () => {
  const references = everyObject(document).filter(([, value]) => '$ref' in value);
  for (const [place, value] of references)
    expect([place, Object.keys(resolved(document, value))]).not.toEqual([place, []]);
  const used = new Set(references.map(([, value]) => value['$ref']));
  const components = ['schemas', 'responses', 'headers'].flatMap((kind) =>
    Object.keys(member(member(document, 'components'), kind)).map((name) => `#/components/${kind}/${name}`),
  );
  expect(components.filter((component) => !used.has(component))).toEqual([]);
});

it('every schema is a strict JSON Schema 2020-12', () => {
  const conformance = new Conformance(document);
  const schemas = Object.keys(member(member(document, 'components'), 'schemas'));
  expect(() => schemas.forEach((name) => conformance.compile(['components', 'schemas', name]))).not.toThrow();
});

/** Returns every object within a value, with its place. Objects within examples are omitted, because they are data. */
function everyObject(value: unknown, place = '#'): [string, Record<string, unknown>][] {
  if (Array.isArray(value)) return value.flatMap((one: unknown, index) => everyObject(one, `${place}/${index}`));
  if (!isJson(value)) return [];
  const members = Object.entries(value).filter(([key]) => key !== 'example' && key !== 'examples');
  return [[place, value], ...members.flatMap(([key, one]) => everyObject(one, `${place}/${key}`))];
}
