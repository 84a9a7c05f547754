import { parseJsonText } from '@iss/domain/pure';
import { choiceOf, type Command, type CommandContext, textOf, textsOf, UsageError } from '../command';
import { readWhole } from '../files';
import { asCaller, PROFILE_OPTION } from '../service/caller';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const MAX_BODY = 64_000_000;

export const api: Command = {
  about: 'The response is printed as JSON without verification. Retries and errors are those of every command.',
  arguments: [
    { name: 'method', about: `${METHODS.join(', ')}.`, choices: METHODS },
    { name: 'path', about: 'Path, such as /v1/tenants.' },
  ],
  options: {
    query: { value: 'NAME=VALUE', about: 'Query parameter.', isRepeated: true },
    body: { value: 'FILE', about: 'JSON body, or - for standard input.' },
    ...PROFILE_OPTION,
  },
  async run(options, context) {
    const method =
      choiceOf({ ...options, method: textOf(options, 'method')?.toUpperCase() }, 'method', METHODS) ?? 'GET';
    const path = textOf(options, 'path') ?? '';
    if (!path.startsWith('/')) throw new UsageError('PATH must start with a slash, such as /v1/tenants.');
    const query = Object.fromEntries(textsOf(options, 'query').map(parameterOf));
    const body = await bodyOf(textOf(options, 'body'), context);
    await asCaller(options, context, async ({ iss }) => {
      const answer = await iss.request<unknown>(method, path, { query, ...(body === undefined ? {} : { body }) });
      if (answer !== null) context.print(JSON.stringify(answer, null, 2));
    });
  },
};

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
