import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { canonicalize, parseJsonText } from '@iss/domain/pure';
import { repositoryRoot } from '../../../tools/root';
import { waitFor } from '../../../tools/testing/wait-for';
import { settingsOf } from '../src/settings';
import { iss } from './testing/run-iss';
import { firstVersion } from './page/reader-examples';

const STORED_UNTOLD = 50;

let folder: string;
let file: string;
let server: Server;
let variables: Record<string, string>;
/** The ids of stored snapshots. */
let stored: Set<string>;
/** The number of batches so far. */
let batches: number;
/**
 * The number of batches that get an answer. In a later batch, the service stores the first lines and does not answer.
 */
let answered: number;

/** Answers a batch like the service: version 1 of a subject is stored once, and any other number is forbidden. */
function takeBatch(body: string, response: ServerResponse): void {
  for (const [index, line] of body.trimEnd().split('\n').entries()) {
    const { snapshot_id: id, snapshot_version: version }: { snapshot_id: string; snapshot_version: number } =
      JSON.parse(line);
    const base = { line: index + 1, snapshot_id: id };
    if (version !== 1) {
      const error = { code: 'forbidden', message: 'No.', request_id: 'r' };
      response.write(`${JSON.stringify({ ...base, status: 403, error })}\n`);
      continue;
    }
    const hash = createHash('sha256')
      .update(canonicalize(parseJsonText(line)))
      .digest('hex');
    response.write(`${JSON.stringify({ ...base, status: stored.has(id) ? 200 : 201, envelope_hash: hash })}\n`);
    stored.add(id);
  }
  response.end();
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-import-'));
  file = join(folder, 'pits.ndjson');
  stored = new Set();
  batches = 0;
  answered = Infinity;
  server = createServer((request, response) => {
    text(request).then(
      (body) => {
        if (++batches <= answered) return takeBatch(body, response);
        for (const line of body.split('\n').slice(0, STORED_UNTOLD)) stored.add(JSON.parse(line).snapshot_id);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  variables = { ISS_TOKEN: 'x', ISS_BASE_URL: `http://127.0.0.1:${port}`, ISS_TENANT: 'agency' };
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

const run = (words: readonly string[], isLive = false) =>
  iss(['import', file, ...words], { settings: settingsOf(variables, 'linux'), screen: { isColoured: false, isLive } });

/** Runs an import as a separate process, and kills it while its second batch has no answer. */
async function importKilled(): Promise<void> {
  answered = 1;
  const child = spawn(process.execPath, [join(repositoryRoot, 'apps/cli/dist/main.js'), 'import', file], {
    env: variables,
    stdio: 'ignore',
  });
  const ended = once(child, 'close');
  await waitFor(() => existsSync(`${file}.iss-import`) && batches === 2, {
    what: 'the second batch',
  });
  child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
  answered = Infinity;
}

it('import continues after SIGKILL and completes its counts and report', async () => {
  const lines = Array.from({ length: 1_200 }, (_, index) => firstVersion(`pit-${index}`, index % 400 === 399 ? 2 : 1));
  lines.splice(750, 0, '{"no JSON', '');
  writeFileSync(file, lines.join('\n'));
  stored.add(JSON.parse(lines[0] ?? '').snapshot_id);
  await importKilled();

  // An import continues only with the same file.
  for (const changed of [['', ...lines], lines.slice(0, 500)]) {
    writeFileSync(file, changed.join('\n'));
    expect(await run([])).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/have changed.*--restart/) });
  }
  writeFileSync(file, lines.join('\n'));
  const refused = readFileSync(`${file}.refused.ndjson`);
  writeFileSync(`${file}.refused.ndjson`, refused.subarray(1));
  expect(await run([])).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/lost earlier refusals/) });
  writeFileSync(`${file}.refused.ndjson`, refused);
  const there = { ...variables };
  variables['ISS_BASE_URL'] = 'http://127.0.0.1:1';
  expect(await run([])).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/belongs to an import/) });
  variables = there;
  expect(await run(['--tenant', 'other'])).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/belongs to an import into agency/),
  });

  // Simulates a kill after a refusal was reported and before its position was stored.
  appendFileSync(`${file}.refused.ndjson`, '{"line":1202}\n');
  const resumed = await run(['--json'], true);
  expect(resumed).toMatchObject({ exitCode: 1 });
  expect(resumed.complaint).toMatch(/^Continuing after line 1002\.\n/);
  expect(resumed.complaint).toMatch(/\[#{24}\] 100 % {2}line 1202, 4 refused\n/);
  const { report, ...counts } = JSON.parse(resumed.printed);
  expect(counts).toEqual({ lines: 1_202, stored: 1_196 - STORED_UNTOLD, known: STORED_UNTOLD + 1, refused: 4 });
  const told = readFileSync(report, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(told.map(({ line, status, error }) => [line, status, error.code])).toEqual([
    [400, 403, 'forbidden'],
    [751, null, 'validation_error'],
    [802, 403, 'forbidden'],
    [1_202, 403, 'forbidden'],
  ]);
  expect(existsSync(`${file}.iss-import`)).toBe(false);
});

it('import --format bods accepts arrays and lines of statements, and refuses invalid ones', async () => {
  const statement = {
    ...{ recordId: 'c-1', recordType: 'entity', statementDate: '2026-01-05' },
    recordDetails: { isComponent: false, entityType: { type: 'registeredEntity' }, name: 'Acme' },
  };
  const bods = ['--format', 'bods', '--prefix', 'bods:', '--json'];
  writeFileSync(file, JSON.stringify([statement]));
  expect(JSON.parse((await run(bods)).printed)).toMatchObject({ lines: 1, stored: 1 });
  expect(readFileSync(`${file}.envelopes.ndjson`, 'utf8')).toContain('"subject_id":"bods:c-1"');
  writeFileSync(file, `${JSON.stringify(statement)}\n\n`);
  expect(JSON.parse((await run(bods)).printed)).toMatchObject({ lines: 1, stored: 0, known: 1 });
  writeFileSync(file, JSON.stringify([statement, { ...statement, recordId: 'c-2' }]));
  expect(JSON.parse((await run(bods)).printed)).toMatchObject({ lines: 2, stored: 1, known: 1 });
  writeFileSync(file, '[{}]');
  expect(await run(bods)).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/\/0\/recordId is required/) });
  expect(await run(['--prefix', 'x'])).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/--format bods/),
  });
});

it('import refuses a file that is no archive', async () => {
  writeFileSync(file, '\n'.repeat(20_001));
  expect(await run([])).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/too many lines before line/) });
});

it('import counts stored snapshots as known, and --restart sends all lines again', async () => {
  const lines = Array.from({ length: 3 }, (_, index) => firstVersion(`pit-${index}`, 1));
  writeFileSync(file, lines.join('\n'));
  stored.add(JSON.parse(lines[0] ?? '').snapshot_id);
  expect(await run(['--json'])).toMatchObject({ exitCode: 0, complaint: '' });
  const again = await run(['--restart']);
  expect(again).toEqual({ exitCode: 0, printed: '3 lines: 0 stored, 3 already known, 0 refused', complaint: '' });
  expect(stored.size).toBe(3);
});
