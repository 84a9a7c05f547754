import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_TYPES } from '@iss/domain';
import { isJson, list, member, type Operation, operationsOf, resolved } from '../../testing/conformance.ts';
import { idOf } from '../../../apps/api-gateway/test/examples/documented.ts';
import { repositoryRoot } from '../../root.ts';

type Json = Record<string, unknown>;

// Checks what client generators, validators in other languages and Swagger UI need, beyond a valid document.

const document: unknown = JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'));
const operations = operationsOf(document);
const nameOf = ({ method, path }: Operation): string => `${method.toUpperCase()} ${path}`;
const isText = (value: unknown): boolean => typeof value === 'string' && value.length > 0;

/** Returns every object within a value, with its place. Omits examples, since they are data. */
function everyObject(value: unknown, place = '#'): [place: string, value: Json][] {
  if (Array.isArray(value)) return value.flatMap((one: unknown, index) => everyObject(one, `${place}/${index}`));
  if (!isJson(value)) return [];
  const members = Object.entries(value).filter(([key]) => key !== 'example' && key !== 'examples');
  return [[place, value], ...members.flatMap(([key, one]) => everyObject(one, `${place}/${key}`))];
}

/** Returns a schema and all schemas within it, including referenced ones. */
function everySchema(schema: Json, place: string): [place: string, schema: Json][] {
  const target = resolved(document, schema);
  return everyObject(target, place).flatMap(([at, one]) =>
    '$ref' in one ? everySchema(one, at) : [[at, one] as const],
  );
}

const everything = everyObject(document);

describe('patterns', () => {
  const patterns = everything.flatMap(([place, { pattern }]) =>
    typeof pattern === 'string' ? [[place, pattern]] : [],
  );
  const failing = (isFit: (pattern: string) => boolean): unknown[] =>
    patterns.filter(([, pattern = '']) => !isFit(pattern));

  it('compile, and mean the same, with and without the flag u', () => {
    const compiles = (pattern: string, flags: string): boolean => {
      try {
        return new RegExp(pattern, flags).source.length > 0;
      } catch {
        return false;
      }
    };
    expect(failing((pattern) => compiles(pattern, '') && compiles(pattern, 'u'))).toEqual([]);
    expect(failing((pattern) => !/\\[pP]\{|\\u\{|\\k</.test(pattern))).toEqual([]);
  });

  it('neither start nor end with a slash, which generators misread as a literal', () => {
    expect(failing((pattern) => !/^\/|\/$/.test(pattern))).toEqual([]);
  });
});

describe('descriptions', () => {
  it('exist for every property of every schema, directly or by reference', () => {
    const lacking = everything.flatMap(([place, { properties }]) =>
      Object.entries(isJson(properties) ? properties : {})
        .filter(
          ([, property]) =>
            !isJson(property) || !isText({ ...resolved(document, property), ...property }['description']),
        )
        .map(([name]) => `${place} ${name}`),
    );
    expect(lacking).toEqual([]);
  });

  it('exist for every parameter and every header', () => {
    const parameters = operations.flatMap((operation) =>
      list(operation.description['parameters'])
        .filter(({ description }) => !isText(description))
        .map(({ name }) => `${nameOf(operation)} ${String(name)}`),
    );
    const headers = Object.entries(member(member(document, 'components'), 'headers'))
      .filter(([, header]) => !isJson(header) || !isText(header['description']))
      .map(([name]) => name);
    expect([...parameters, ...headers]).toEqual([]);
  });
});

/** Optional parameters that have an alternative. One of the two is required, so Swagger UI fills these in. */
const ONE_OF_TWO: readonly unknown[] = ['from_version', 'to_version'];

describe('defaults', () => {
  it('do not exist in request bodies, because generators make such members required', () => {
    const found = operations.flatMap((operation) =>
      Object.entries(member(member(operation.description, 'requestBody'), 'content')).flatMap(([type, media]) =>
        everySchema(member(media, 'schema'), `${nameOf(operation)} ${type}`)
          .filter(([, schema]) => 'default' in schema)
          .map(([place]) => place),
      ),
    );
    expect(found).toEqual([]);
  });

  it('optional parameters without a default have no example, which Swagger UI would send', () => {
    const found = operations.flatMap((operation) =>
      list(operation.description['parameters'])
        .filter(({ required, schema }) => required !== true && isJson(schema) && !('default' in schema))
        .filter(({ name }) => !ONE_OF_TWO.includes(name))
        .filter(
          (parameter) => 'example' in parameter || 'examples' in parameter || 'example' in member(parameter, 'schema'),
        )
        .map(({ name }) => `${nameOf(operation)} ${String(name)}`),
    );
    expect(found).toEqual([]);
  });
});

/** The verbs at the beginning of operation ids. */
const VERBS =
  /^(accept|apply|block|cancel|change|confirm|create|decline|delete|diff|export|fulfill|get|import|issue|leave|list|propose|put|redeliver|remove|replay|request|retire|revoke|rotate|test|unblock|update|withdraw)[A-Z]/;

describe('operation ids', () => {
  const ids = operations.map(idOf);

  it('start with a known verb, followed by a noun', () => {
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z0-9]+)+$/.test(id) || !VERBS.test(id))).toEqual([]);
  });

  it('end with AcrossTenants if the route is the global form of a tenant route', () => {
    const forms = new Map(operations.map((operation) => [nameOf(operation), idOf(operation)]));
    const pairs = operations.flatMap((operation) => {
      const name = nameOf(operation);
      const scoped = forms.get(name.replace('/v1/', '/v1/tenants/{tenant_id}/'));
      return scoped === undefined || scoped === idOf(operation) ? [] : [[idOf(operation), scoped] as const];
    });
    expect(pairs.length).toBeGreaterThan(10);
    expect(pairs.filter(([id, scoped]) => id !== `${scoped}AcrossTenants` && !id.includes('Legacy'))).toEqual([]);
  });

  it('are unique', () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });
});

describe('webhooks', () => {
  const types = [...EVENT_TYPES, 'webhook.test'];

  it('exist for every event type', () => {
    expect(Object.keys(member(document, 'webhooks')).sort()).toEqual([...types].sort());
  });

  it.each(types)('%s has a typed body, an example, signature headers and the relevant responses', (type) => {
    const { post } = member(member(document, 'webhooks'), type);
    const media = member(member(member(post, 'requestBody'), 'content'), 'application/json');
    const body = resolved(document, member(media, 'schema'));
    const properties = member(body, 'properties');
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['id', 'type', 'created_at', 'tenant_id', 'data']));
    expect(resolved(document, member(properties, 'type'))).toMatchObject({ const: type });
    const data = resolved(document, member(properties, 'data'));
    expect(Object.keys(member(data, 'properties')).length).toBeGreaterThan(0);
    expect('example' in media || Object.keys(member(media, 'examples')).length > 0).toBe(true);
    const headers = list(isJson(post) ? post['parameters'] : []).map(({ name }) => String(name).toLowerCase());
    expect(headers).toEqual(
      expect.arrayContaining(['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-service-signature']),
    );
    expect(Object.keys(member(post, 'responses'))).toEqual(expect.arrayContaining(['204', '410']));
  });
});

it('every export has a separate path for NDJSON', () => {
  const paths = member(document, 'paths');
  const exports = Object.keys(paths).filter((path) => path.endsWith('/export'));
  expect(exports.length).toBeGreaterThan(0);
  const types = exports.map((path) => {
    const answer = member(member(member(member(paths, `${path}.ndjson`), 'get'), 'responses'), '200');
    return Object.keys(member(answer, 'content'));
  });
  expect(types).toEqual(exports.map(() => ['application/x-ndjson']));
});
