import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

// `build` does not use the compiler's build mode, which stores the state of its last run beside the output and would mistake an
// output from the cache of Nx for its own.
const COMPILE = 'node node_modules/typescript-native/bin/tsc --composite false --incremental false -p';

/** A bundle also depends on the scripts that make it. */
const BUNDLED = { inputs: ['production', '^production', '{workspaceRoot}/tools/console/**/*'] };

/** Infers the projects of the repository: every folder of `apps` and `libs` with a tsconfig.json. */
export const createNodesV2 = [
  '{apps,libs}/*/tsconfig.json',
  (files, _options, { workspaceRoot }) =>
    files.map((file) => {
      const root = dirname(file);
      const isBundled = existsSync(join(workspaceRoot, root, 'vite.config.ts'));
      const configs = [file, join(root, 'tsconfig.node.json')].filter((name) => existsSync(join(workspaceRoot, name)));
      const commands = isBundled
        ? ['node tools/run.mjs console/build']
        : configs.map((config) => `${COMPILE} ${config}`);
      const project = {
        projectType: root.startsWith('apps') ? 'application' : 'library',
        sourceRoot: `${root}/src`,
        targets: {
          build: { executor: 'nx:run-commands', options: { commands, parallel: false }, ...(isBundled && BUNDLED) },
          test: { command: `node tools/run.mjs test ${root}/` },
        },
      };
      return [file, { projects: { [root]: project } }];
    }),
];
