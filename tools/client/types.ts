import { writeFileSync } from 'node:fs';
import { reportError } from '../processes.ts';
import { GENERATED_TYPES, generateTypes } from './generate-types.ts';

/** The last step of `npm run generate -- openapi`, and the first of `npm run generate -- client`: writes the client's types from `openapi.json`. */
try {
  writeFileSync(GENERATED_TYPES, await generateTypes());
} catch (error) {
  process.exitCode = reportError(error);
}
