// The client and its zod schemas; BASE_URL is where the service is.
const input = { target: 'openapi.json' };
const output = { mode: 'single', baseUrl: process.env['BASE_URL'] };

export default {
  fetch: { input, output: { ...output, client: 'fetch', target: 'generated/orval/fetch.ts' } },
  zod: { input, output: { ...output, client: 'zod', target: 'generated/orval/zod.ts' } },
};
