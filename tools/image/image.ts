import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../build.ts';
import { reportError, UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { engineNamed } from './engines.ts';
import { imageSource } from './source.ts';
import { stageTree } from './tree.ts';

/** The maximum size. A larger image contains something that it should not. */
const MAX_BYTES = 300e6;

/** `npm run image`: stages the tree, builds the image and prints its digest and size (docs/operations/images.md). */
try {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      name: { type: 'string' },
      engine: { type: 'string' },
      output: { type: 'string' },
      revision: { type: 'string' },
      'tree-only': { type: 'boolean', default: false },
    },
  });
  const base = values['tree-only'] ? '' : pinned(values.base);
  await ensureBuilt();
  const source = imageSource(values.revision);
  const folder = join(repositoryRoot, 'dist', 'image');
  const tree = join(folder, 'tree');
  const staged = stageTree(tree, source.created);
  copyFileSync(join(tree, 'sbom.cdx.json'), join(folder, 'sbom.cdx.json'));
  console.log(`${source.revision}, of ${source.created.toISOString()}`);
  console.log(`tree    ${megabytes(staged.bytes)} in ${staged.files} files: dist/image/tree`);
  console.log('bill    dist/image/sbom.cdx.json (CycloneDX), /app/sbom.cdx.json in the image');
  if (!values['tree-only']) {
    const engine = engineNamed(values.engine);
    const name = values.name ?? `identity-state-service:${source.version}`;
    const dockerfile = join(repositoryRoot, 'docker', 'Dockerfile');
    const digest = engine.build({ ...source, name, base, tree, dockerfile });
    const bytes = engine.bytes(name);
    console.log(`image   ${megabytes(bytes)}: ${name}`);
    console.log(`digest  ${digest}`);
    if (values.output !== undefined) {
      engine.save(name, values.output);
      console.log(`saved   ${values.output}`);
    }
    if (bytes > MAX_BYTES) {
      throw new UserError(
        `The image is larger than ${megabytes(MAX_BYTES)}, and all but ${megabytes(staged.bytes)} come from its base. ` +
          'Build a small base with npm run tool -- image/base.',
      );
    }
  }
} catch (error) {
  process.exitCode = reportError(error);
}

/** Requires a digest for a base from a registry, since its tag can change. A local base has no digest of a registry. */
function pinned(base = ''): string {
  if (/@sha256:[0-9a-f]{64}$/.test(base) || base.startsWith('localhost/')) return base;
  throw new UserError(
    '--base needs an image with its digest, such as docker.io/library/node@sha256:… (docker buildx imagetools inspect ' +
      'docker.io/library/node:26.10-slim prints the digest), or localhost/… from npm run tool -- image/base.',
  );
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
