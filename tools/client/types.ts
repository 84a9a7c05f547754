import { writeFileSync } from 'node:fs';
import { reportError } from '../processes.ts';
import { GENERATED_TYPES, generateTypes } from './generate-types.ts';

/** `npm run generate -- openapi` ends with it: the client's types, written anew from `openapi.json`. */
try {
  writeFileSync(GENERATED_TYPES, await generateTypes());
} catch (error) {
  process.exitCode = reportError(error);
}
