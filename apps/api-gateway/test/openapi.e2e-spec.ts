import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startGateway } from './gateway';

const FILE = resolve(__dirname, '../../../openapi.json');

it('the committed openapi.json is what the gateway serves (npm run openapi writes it)', async () => {
  const gateway = await startGateway();
  const { text } = await gateway.as(null, 'get', '/openapi.json').expect(200);
  const served = text.replaceAll(gateway.issuer.issuer, 'https://identity.example.com/project');
  await gateway.close();
  const formatted = `${JSON.stringify(JSON.parse(served), null, 2)}\n`;
  if (process.env['UPDATE_OPENAPI'] === 'true') writeFileSync(FILE, formatted);
  expect(existsSync(FILE) ? readFileSync(FILE, 'utf8') : '').toBe(formatted);
});
