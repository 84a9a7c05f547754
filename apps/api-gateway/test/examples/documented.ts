import { isJson, list, member, type Operation } from '../../../../tools/testing/conformance';

type Json = Record<string, unknown>;

export const JSON_TYPE = 'application/json';

export const idOf = ({ description }: Operation): string => String(description['operationId']);

export const parametersOf = ({ description }: Operation, location: string): Json[] =>
  list(description['parameters']).filter((parameter) => parameter['in'] === location);

/** The example of a parameter. An optional parameter has it in its schema, from which Swagger UI does not send it. */
export function exampleOf(parameter: Json): unknown {
  const { examples } = member(parameter, 'schema');
  return parameter['example'] ?? (Array.isArray(examples) ? examples[0] : undefined);
}

/** The statuses of the successful answers. */
export const successesOf = ({ description }: Operation): string[] =>
  Object.keys(member(description, 'responses')).filter((status) => status.startsWith('2'));

/** The answers with a status, by media type. */
export const contentOf = ({ description }: Operation, status: string): Json =>
  member(member(member(description, 'responses'), status), 'content');

const requestContentOf = ({ description }: Operation): Json => member(member(description, 'requestBody'), 'content');

/** The media type of the request's body; the usual one if there is no body. */
export const requestTypeOf = (operation: Operation): string => Object.keys(requestContentOf(operation))[0] ?? JSON_TYPE;

/** The examples of the request. */
export function requestsOf(operation: Operation): { name: string; body: unknown }[] {
  const media = member(requestContentOf(operation), requestTypeOf(operation));
  return Object.entries(member(media, 'examples')).map(([name, example]) => ({
    name,
    body: isJson(example) ? example['value'] : undefined,
  }));
}

/** Every example, with the place of its schema in the document. */
export function examplesOf(operation: Operation): [string[], unknown][] {
  const at = (...rest: string[]): string[] => ['paths', operation.path, operation.method, ...rest, 'schema'];
  const ofParameters = list(operation.description['parameters']).flatMap((parameter, index): [string[], unknown][] =>
    exampleOf(parameter) === undefined ? [] : [[at('parameters', String(index)), exampleOf(parameter)]],
  );
  const ofRequests = requestsOf(operation).map(({ body }): [string[], unknown] => [
    at('requestBody', 'content', requestTypeOf(operation)),
    body,
  ]);
  const ofAnswers = successesOf(operation).flatMap((status) =>
    Object.keys(contentOf(operation, status)).map((type): [string[], unknown] => [
      at('responses', status, 'content', type),
      member(contentOf(operation, status), type)['example'],
    ]),
  );
  return [...ofParameters, ...ofRequests, ...ofAnswers];
}

/**
 * One way to call an operation with its examples: a request for a successful answer in a media type, which is '' for an
 * answer without a body.
 */
export interface Execution {
  status: string;
  type: string;
  name: string;
  body: unknown;
  isFirst: boolean;
}

/** Returns every way to call the operation. */
export function executionsOf(operation: Operation): Execution[] {
  const requests = requestsOf(operation);
  return successesOf(operation).flatMap((status) => {
    // A stream does not end, so a test cannot wait for its end: `change-feed.e2e-spec.ts` reads it.
    const types = Object.keys(contentOf(operation, status)).filter((type) => type !== 'text/event-stream');
    return (types.length === 0 ? [''] : types).flatMap((type) =>
      (requests.length === 0 ? [{ name: 'no body', body: undefined }] : requests).map((request, index) => ({
        ...request,
        status,
        type,
        isFirst: index === 0,
      })),
    );
  });
}

/** Returns the query with every example. */
export function exampleQuery(operation: Operation): Json {
  const examples = parametersOf(operation, 'query').map((one) => [String(one['name']), exampleOf(one)] as const);
  return Object.fromEntries(examples.filter(([, example]) => example !== undefined));
}

/** Values of query parameters that the document allows, and some that it does not allow. */
export function queryValuesOf(operation: Operation): { name: string; value: unknown; isTaken: boolean }[] {
  return parametersOf(operation, 'query').flatMap((parameter) => {
    const { enum: members, minimum, maximum, type } = member(parameter, 'schema');
    const isEnum = Array.isArray(members);
    const taken = [...(isEnum ? members : []), minimum, maximum].filter((value) => value !== undefined);
    const refused = [
      ...(isEnum ? ['something-else'] : []),
      ...(type === 'integer' ? [minimum === 0 ? '' : '0', '-1', 'abc'] : []),
      ...(typeof maximum === 'number' ? [maximum + 1] : []),
    ];
    const name = String(parameter['name']);
    return [
      ...taken.map((value: unknown) => ({ name, value, isTaken: true })),
      ...refused.map((value) => ({ name, value, isTaken: false })),
    ];
  });
}

/** Returns every object within a value. */
export function objectsOf(value: unknown): Json[] {
  if (Array.isArray(value)) return value.flatMap(objectsOf);
  return isJson(value) ? [value, ...Object.values(value).flatMap(objectsOf)] : [];
}
