import { COMMANDS } from '../src/commands';
import { settingsOf } from '../src/settings';
import { iss } from './testing/run-iss';

/** Names a service that does not run, because a command checks its options before it sends a request. */
const settings = settingsOf({ ISS_TOKEN: 'x', ISS_BASE_URL: 'http://127.0.0.1:1', ISS_TENANT: 'agency' }, 'linux');

it.each([
  ['whoami --profile lender', /^ISS_TOKEN and --profile name two/],
  ['get harbour --as-of 2026-13-01', /^--as-of takes a time/],
  ['subjects --type company', /^--type takes one of organization/],
  ['api FETCH /v1/tenants', /takes one of GET/],
  ['api GET v1/tenants', /^PATH must start with a slash/],
  ['api GET /v1/tenants --query limit', /^--query takes NAME=VALUE/],
  ['share harbour lender', /^--scopes is missing/],
  ['share harbour lender --scopes all --until tomorrow', /^--until takes a time/],
  ['who harbour --at 2026-13-45', /^--at takes a time/],
  ['grants --all --held', /^--held lists/],
  ['requests --status open', /^--status takes one of pending/],
  ['changes --type snapshot', /^--type takes one of snapshot.created/],
  ['changes --type constructor', /^--type takes one of snapshot.created/],
  ['export harbour --proofs --policy policy', /Pass it to iss verify/],
  ['proof', /^Name the SUBJECT/],
  ['proof --latest', /^Name the SUBJECT/],
  ['proof harbour@1 --latest', /Remove @VERSION/],
  ['proof harbour --absence audit', /not about a subject/],
  ['proof harbour --absence grants --records-from 1', /needs --absence disclosures or --absence audit/],
  ['proof --absence audit --records-from 0', /whole number from 1 to/],
  ['proof harbour --absence all', /^--absence takes one of versions/],
  ['proof harbour --latest --absence grants', /exclude each other/],
  ['proof harbour --latest --policy policy', /Pass --policy to iss verify/],
  ['import missing.ndjson', /^missing.ndjson cannot be read \(ENOENT\)/],
  ['listen', /^--forward-to is missing/],
  ['listen --forward-to localhost:8080', /^--forward-to takes a URL/],
  ['listen --forward-to http://localhost --events update.applied', /update.applied is not forwarded/],
  ['hooks create http://localhost --events update', /unknown event type "update"/],
  ['hooks change wsub_1', /^No change is named/],
  ['hooks change wsub_1 --enable --disable', /^--enable and --disable exclude/],
  ['deliveries wsub_1 --status sent', /^--status takes one of pending/],
  ['redeliver wsub_1', /^Name either DELIVERY or a period/],
  ['redeliver wsub_1 --status dead', /Add --from TIME/],
])('iss %s exits with 2 and names the wrong or missing option', async (words, sentence) => {
  expect(await iss(words.split(' '), { settings })).toMatchObject({
    exitCode: 2,
    printed: '',
    complaint: expect.stringMatching(sentence),
  });
});

it.each(Object.entries(COMMANDS))(
  'iss %s --help prints an example, in at most 80 columns',
  async (name, { example }) => {
    const { exitCode, printed } = await iss([...name.split(' '), '-h']);
    expect(exitCode).toBe(0);
    expect(printed).toContain(`Example:\n  ${example}\n`);
    expect(example).toContain(`iss ${name}`);
    for (const line of printed.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  },
);

it('iss -h lists every command in at most 80 columns', async () => {
  const { exitCode, printed } = await iss(['-h']);
  expect(exitCode).toBe(0);
  for (const name of Object.keys(COMMANDS)) expect(printed).toContain(`  iss ${name} `);
  for (const line of printed.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

it('every usage line names all options of its command that are not shared', async () => {
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const { usage, options } = await load();
    for (const [option, { value, isShared }] of Object.entries(options)) {
      if (usage !== undefined && isShared !== true)
        expect(`${name} ${usage}`).toContain(`--${option}${value === undefined ? '' : ` ${value}`}`);
    }
  }
});
