import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '.data/**', '.nx/**'] },
  eslint.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.{js,cjs,mjs}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        module: 'writable',
        require: 'readonly',
        __dirname: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        setImmediate: 'readonly',
        AbortSignal: 'readonly',
        AbortController: 'readonly',
        URLSearchParams: 'readonly',
        crypto: 'readonly',
        Headers: 'readonly',
        Response: 'readonly',
      },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Read the environment through the env file of the room.' },
        {
          object: 'JSON',
          property: 'parse',
          message: 'It can return a wrong key (docs/decisions/0001-own-json.md). Use parseJson or parseStoredJson.',
        },
      ],
      'no-control-regex': 'off',
      eqeqeq: ['error', 'always'],
    },
  },
  {
    // Programs that readers copy, without the functions of this project.
    files: ['docs/**'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['**/*.{ts,tsx}'],
    // Compiled against what the generators write, in a test.
    ignores: ['tools/test/openapi/clients/**'],
    languageOptions: {
      parserOptions: {
        project: ['tsconfig.test.json', 'apps/console/tsconfig.json', 'apps/console/tsconfig.spec.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // A promise that nobody waits for ends the process when it fails: each says what then, `void` alone does not do.
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/only-throw-error': 'error',
    },
  },
  {
    // A page outlives a promise that fails; what failed is shown by what asked.
    files: ['apps/console/src/**/*.{ts,tsx}'],
    rules: { '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }] },
  },
  {
    // Tests look into answers, which are JSON of any shape.
    files: ['apps/*/src/**/*.{ts,tsx}', 'libs/*/src/**/*.ts'],
    ignores: ['**/*spec.ts', '**/testing/**'],
    rules: {
      '@typescript-eslint/no-base-to-string': 'error',
      '@typescript-eslint/restrict-template-expressions': 'error',
    },
  },
  {
    files: ['apps/*/src/**/*.{ts,tsx}', 'libs/*/src/**/*.ts'],
    // Tests; and data, most of which generators write.
    ignores: ['**/*spec.ts', '**/testing/**', '**/generated/**', 'apps/cli/src/audit/schema/expected-guards.ts'],
    rules: { 'max-lines': ['error', 400], 'max-lines-per-function': ['error', 80] },
  },
  {
    // Each parses text whose keys have no escapes, checks syntax alone, or compares the value with the text.
    files: [
      'libs/domain/src/json/parse.ts',
      'libs/persistence/src/stores/snapshots/open-snapshot.ts',
      'libs/client/src/node.ts',
      'apps/api-gateway/src/http/console/console.ts',
      'apps/cli/src/audit/{facts/canonical,log/other-facts,log/records,log/vrf-keys}.ts',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: [
      '**/env.ts',
      '**/vite.config.ts',
      '**/*spec.ts',
      'tools/**',
      'docker/**',
      '**/testing/**',
      '**/test/**',
      '**/jest*.{js,cjs}',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
);
