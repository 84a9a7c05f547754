// `npm run generate -- manifests` writes the generated files in deploy/: Kustomize's manifests, and the chart's copies of other files.
// `npm run generate -- manifests --values FILE --out FOLDER` writes Kustomize's manifests for your own values, without Helm.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { reportError, UserError } from '../processes.ts';
import { YAML } from './chart.ts';
import type { Fields } from './go-template.ts';
import { chartFiles, chartPath, kustomizeFiles, kustomizeFolder, kustomizeValues } from './kustomize.ts';
import { faultsOf, schemaFile, valuesSchema } from './values-schema.ts';

function main(): void {
  const { values: given } = parseArgs({ options: { values: { type: 'string' }, out: { type: 'string' } } });
  if (given.values !== undefined && given.out !== undefined) {
    write(given.out, filesFor(parse(readFileSync(given.values, 'utf8'), YAML)));
    return;
  }
  if (given.values !== undefined || given.out !== undefined)
    throw new UserError('--values FILE and --out FOLDER go together');
  writeFileSync(schemaFile, valuesSchema());
  for (const [file, text] of chartFiles()) {
    mkdirSync(dirname(chartPath(file)), { recursive: true });
    writeFileSync(chartPath(file), text);
  }
  const files = filesFor(kustomizeValues());
  for (const folder of new Set([...files.keys()].map((file) => file.split('/')[0] ?? ''))) {
    rmSync(join(kustomizeFolder, folder), { recursive: true, force: true });
  }
  write(kustomizeFolder, files);
}

function filesFor(values: Fields): Map<string, string> {
  const faults = faultsOf(values);
  if (faults.length > 0) throw new UserError(faults.join('\n'));
  return kustomizeFiles(values);
}

function write(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  console.log(`${files.size} files in ${folder}`);
}

try {
  main();
} catch (error) {
  process.exitCode = reportError(
    error instanceof Error && error.message.startsWith('templates/') ? new UserError(error.message) : error,
  );
}
