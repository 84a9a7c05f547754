import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

export const CONSOLE_FOLDER = join(repositoryRoot, 'apps', 'console');
export const CONSOLE_DIST = join(CONSOLE_FOLDER, 'dist');

/**
 * Builds the console into `apps/console/dist`. Each file has a gzip and a brotli form, which the gateway serves unchanged. Does
 * not check types. @throws UserError if the build fails
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
