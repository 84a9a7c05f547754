import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';

/** The client's types of the API. */
export const GENERATED_TYPES = join(repositoryRoot, 'libs/client/src/generated/types.ts');

/** Returns the schemas of `openapi.json` as TypeScript, without the paths: the client's methods are written by hand. */
export async function generateTypes(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'iss-types-'));
  try {
    const { openapi, info, components } = JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'));
    const { schemas } = components;
    const input = join(folder, 'schemas.json');
    writeFileSync(input, JSON.stringify({ openapi, info, paths: {}, components: { schemas } }));
    const output = join(folder, 'types');
    const config = join(folder, 'config.mjs');
    const settings = {
      input,
      output: { path: output, postProcess: [] },
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
    return readFileSync(join(output, 'types.gen.ts'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
