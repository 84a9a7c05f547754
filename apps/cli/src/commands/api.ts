import { parseJsonText } from '@iss/domain/pure';
import { type CommandContext, UsageError } from '../command';
import { defineCommand } from '../define';
import { readWhole } from '../files';
import { asCaller, PROFILE_OPTION } from '../service/caller';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const MAX_BODY = 64_000_000;

export const api = defineCommand({
  about: 'The response is printed as JSON without verification. Retries and errors work as in every command.',
  arguments: {
    method: { about: `${METHODS.join(', ')}.`, choices: METHODS, read: methodOf },
    path: { about: 'Path, such as /v1/tenants.', read: pathOf },
  },
  options: {
    query: {
      value: 'NAME=VALUE',
      about: 'Query parameter.',
      isRepeated: true,
      read: parameterOf,
    },
    body: { value: 'FILE', about: 'JSON body, or - for standard input.' },
    ...PROFILE_OPTION,
  },
  async run({ method, path, query: parameters, body: file }, context, options) {
    const query = Object.fromEntries(parameters);
    const body = await bodyOf(file, context);
    await asCaller(options, context, async ({ iss }) => {
      const answer = await iss.request<unknown>(method, path, { query, ...(body === undefined ? {} : { body }) });
      if (answer !== null) context.print(JSON.stringify(answer, null, 2));
    });
  },
});

function methodOf(text: string): (typeof METHODS)[number] {
  const method = METHODS.find((one) => one === text.toUpperCase());
  if (method !== undefined) return method;
  throw new UsageError(`--method takes one of ${METHODS.join(', ')}.`);
}

function pathOf(text: string): string {
  if (text.startsWith('/')) return text;
  throw new UsageError('PATH must start with a slash, such as /v1/tenants.');
}

function parameterOf(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError('--query takes NAME=VALUE, such as --query limit=10.');
  return [text.slice(0, at), text.slice(at + 1)];
}

async function bodyOf(file: string | undefined, { input }: CommandContext): Promise<unknown> {
  if (file === undefined) return undefined;
  const text = file === '-' ? await input() : readWhole(file, 'body', MAX_BODY).toString('utf8');
  try {
    return parseJsonText(text);
  } catch {
    throw new UsageError(`${file === '-' ? 'Standard input' : file} is not valid JSON.`);
  }
}
