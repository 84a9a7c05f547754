import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../../../tools/root';
import { type StartedService, startService } from '../../../tools/testing/started-service';
import { COMMANDS } from '../src/commands';
import { settingsOf } from '../src/settings';
import { EXAMPLES, FILES } from './page/examples';
import { readLine } from './page/line';
import { pageWith, type Shown } from './page/page';
import { Steady } from './page/steady';
import { testContext } from './testing/run-iss';
import { runCommand } from '../src/run';

jest.setTimeout(180_000);

const PAGE = join(repositoryRoot, 'docs/cli.md');
/** What the page shows in place of this run's. */
const SHOWN_URL = 'http://localhost:3000';

let service: StartedService;
let folder: string;
const before = process.cwd();

beforeAll(async () => {
  service = await startService({ SEED: 'false' });
  folder = mkdtempSync(join(tmpdir(), 'iss-commands-'));
  mkdirSync(join(folder, 'files'));
  // Lines name files as somebody does who stands beside them.
  process.chdir(join(folder, 'files'));
  for (const [name, content] of Object.entries(FILES)) {
    writeFileSync(name, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  }
  copyFileSync(service.logPolicyFile, 'policy');
  writeFileSync('token', await service.token('grace'));
  writeFileSync('lender-token', await service.token('henry'));
});
afterAll(async () => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
  await service?.close();
});

/** Runs a line as somebody types it beside `npm start`. */
async function run(line: string, kept: ReadonlyMap<string, string> = new Map()) {
  const { words, inputFile, outputFile } = readLine(line, kept);
  const { context, printed, complaints } = testContext({
    settings: settingsOf({ XDG_CONFIG_HOME: join(folder, 'config'), ISS_BASE_URL: service.baseUrl }, 'linux'),
    input: async () => (inputFile === null ? '' : readFileSync(inputFile, 'utf8')),
  });
  const exitCode = await runCommand(words, context);
  if (outputFile !== null) writeFileSync(outputFile, `${printed.join('\n')}\n`);
  return { exitCode, printed: outputFile === null ? printed.join('\n') : '', complaint: complaints.join('\n') };
}

it('every line of docs/cli.md does what the page says', async () => {
  const steady = new Steady([[service.baseUrl, SHOWN_URL]]);
  const kept = new Map<string, string>();
  const shown: Shown[] = [];
  for (const { of, line, exitCode = 0, keep = {}, blur = [] } of EXAMPLES) {
    const outcome = await run(line, kept);
    expect({ line, ...outcome }).toMatchObject({ line, exitCode });
    const output = [outcome.printed, outcome.complaint].filter((text) => text !== '').join('\n');
    for (const [name, expression] of Object.entries(keep)) kept.set(name, expression.exec(output)?.[1] ?? '');
    const steadied = steady.text(output);
    shown.push({
      of,
      line: steady.text(line.replace(/\$([A-Z]+)/g, (_whole, name: string) => kept.get(name) ?? '')),
      output: blur.reduce((text, [what, by]) => text.replace(what, by), steadied),
    });
  }
  const page = readFileSync(PAGE, 'utf8');
  const anew = await pageWith(page, shown);
  if (process.env['UPDATE_CLI_PAGE'] === 'true') writeFileSync(PAGE, anew);
  else expect(anew).toBe(page);
});

it('every command is called as its usage says', async () => {
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const { usage, options } = await load();
    for (const [option, { value }] of Object.entries(options)) {
      if (usage !== undefined)
        expect(`${name} ${usage}`).toContain(`--${option}${value === undefined ? '' : ` ${value}`}`);
    }
  }
});
