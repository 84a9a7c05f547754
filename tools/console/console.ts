import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

export const CONSOLE_FOLDER = join(repositoryRoot, 'apps', 'console');
export const CONSOLE_DIST = join(CONSOLE_FOLDER, 'dist');

/**
 * Builds the console into `apps/console/dist`, each file beside its gzip and brotli forms, which the gateway serves as they
 * are. Types are the compiler's business. @throws UserError when the sources don't build
 */
export async function buildConsole(): Promise<void> {
  const { build } = await import('vite');
  try {
    await build({ configFile: join(CONSOLE_FOLDER, 'vite.config.ts'), mode: 'production' });
  } catch (error) {
    throw new UserError(`The console did not build: ${error instanceof Error ? error.message : String(error)}`);
  }
  for (const name of globSync('**/*.{html,js,css,svg,txt}', { cwd: CONSOLE_DIST })) {
    const file = join(CONSOLE_DIST, name);
    const text = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: text.length } }),
    );
  }
}
