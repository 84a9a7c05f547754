import { readFileSync } from 'node:fs';
import { GENERATED_TYPES, generateTypes } from '../../client/generate-types.ts';

it("the client's types are up to date with openapi.json (npm run generate -- openapi)", async () => {
  expect(await generateTypes()).toBe(readFileSync(GENERATED_TYPES, 'utf8'));
});
