import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';
import { type Document, typeSchemas } from './type-schemas.ts';

/** The client's types of the API. */
export const GENERATED_TYPES = join(repositoryRoot, 'libs/client/src/generated/types.ts');

/** Formats the folder with each type that fits on one line there. */
const FORMAT = [
  join(repositoryRoot, 'node_modules/prettier/bin/prettier.cjs'),
  ...['--config', join(repositoryRoot, '.prettierrc.json'), '--object-wrap', 'collapse', '--write', '{{path}}'],
];

/** Types that many schemas are equal to, but for their parameters. */
const GENERIC_TYPES: Readonly<Record<string, string>> = {
  'PageOf<Item>': `PageEnd & {
  /** The items of the page. */
  items: Array<Item>;
};
`,
  'EventOf<Type, Data>': `EventHead & {
  /** The type of the event. */
  type: Type;
  data: Data;
};
`,
};

/** Returns the schemas and operations of `openapi.json` as TypeScript. */
export async function generateTypes(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'iss-types-'));
  try {
    const document: Document = JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'));
    const { openapi, info } = document;
    const schemas = typeSchemas(document);
    for (const schema of Object.values(schemas)) delete schema['title'];
    const input = join(folder, 'schemas.json');
    writeFileSync(input, JSON.stringify({ openapi, info, paths: {}, components: { schemas } }));
    const output = join(folder, 'types');
    const config = join(folder, 'config.mjs');
    const settings = {
      input,
      output: { path: output, postProcess: [{ command: process.execPath, args: FORMAT }] },
      plugins: ['@hey-api/typescript'],
      parser: { filters: { orphans: true } },
    };
    writeFileSync(config, `export default ${JSON.stringify(settings)};\n`);
    const script = join(repositoryRoot, 'node_modules/@hey-api/openapi-ts/bin/run.js');
    const child = spawn(process.execPath, [script, '-f', config, '--silent', '--no-log-file'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
    const [status] = await once(child, 'close');
    if (status !== 0) throw new Error(`The client's types could not be generated: ${printed}`);
    // Writes each comment of one sentence on one line.
    const types = readFileSync(join(output, 'types.gen.ts'), 'utf8')
      .replace(/\/\*\*\n *\* (.*)\n *\*\n *\* @deprecated\n *\*\//g, '/** @deprecated $1 */')
      .replace(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */');
    return Object.entries(GENERIC_TYPES).reduce(withGeneric, types);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Adds a generic type, and uses it in the types that are equal to it. */
function withGeneric(types: string, [generic, body]: [string, string]): string {
  const [name = '', ...parameters] = generic.match(/\w+/g) ?? [];
  const pattern = body
    .replace(/[{}*()/.|]/g, String.raw`\$&`)
    .replace(new RegExp(String.raw`\b(${parameters.join('|')})\b(?=[;>])`, 'g'), String.raw`('[\w.]+'|\w+)`);
  const call = `${name}<${parameters.map((_, index) => `$${index + 1}`).join(', ')}>;\n`;
  return `${types.replace(new RegExp(`(?<== )${pattern}`, 'g'), call)}\nexport type ${generic} = ${body}`;
}
