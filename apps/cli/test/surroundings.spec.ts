import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingsOf, wantsColour } from '../src/settings';
import { iss } from './testing/run-iss';

describe('shell completion', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'iss-completion-'));
    writeFileSync(join(folder, 'iss.bash'), (await iss(['completion', 'bash'])).printed);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    [['prop'], 'propose proposals'],
    [['admin', ''], 'limits'],
    [['admin', 'limits', ''], 'list set unset'],
    [['get', 'acme-corp', '--as'], '--as-of'],
    [['log-key', 'show', 'file', '--'], '--help'],
    [['get', 'acme'], ''],
    [['get', 'acme', '--basis', ''], 'recorded effective'],
    [['changes', '--type', 'tenant'], 'tenant.owner_changed'],
    [['completion', 'z'], 'zsh'],
  ])('completes the words %j in bash', (words, completed) => {
    const script = 'source "$0"; COMP_WORDS=(iss "$@"); COMP_CWORD=$#; _iss; echo "${COMPREPLY[*]}"';
    const printed = execFileSync('bash', ['-c', script, join(folder, 'iss.bash'), ...words], { encoding: 'utf8' });
    expect(printed.trim()).toBe(completed);
  });

  it.each(['zsh', 'fish'])('the script for %s contains the options of commands', async (shell) => {
    const { printed } = await iss(['completion', shell]);
    for (const option of ['as-of', 'basis', 'policy', 'tenant', 'profile']) expect(printed).toContain(option);
  });

  it('refuses an unsupported shell', async () => {
    expect(await iss(['completion', 'csh'])).toMatchObject({
      exitCode: 2,
      complaint: 'SHELL must be one of bash, zsh, fish.',
    });
  });
});

describe('configFolder', () => {
  it.each([
    [{ XDG_CONFIG_HOME: '/x', HOME: '/home/a' }, 'linux', join('/x', 'iss')],
    [{ HOME: '/home/a' }, 'linux', join('/home/a', '.config', 'iss')],
    [{ APPDATA: 'C:\\a', USERPROFILE: 'C:\\u' }, 'win32', join('C:\\a', 'iss')],
    [{ APPDATA: 'C:\\a', HOME: '/home/a' }, 'darwin', join('/home/a', '.config', 'iss')],
  ] as const)('is derived from %j on %s', (variables, platform, folder) => {
    expect(settingsOf(variables, platform).configFolder).toBe(folder);
  });

  it('fails without a home folder', () => {
    expect(() => settingsOf({}, 'linux').configFolder).toThrow(/Set XDG_CONFIG_HOME/);
  });
});

it.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ CI: 'true' }, true, false],
  [{ TERM: 'dumb' }, true, false],
  [{ FORCE_COLOR: '1', CI: 'true' }, false, true],
  [{ FORCE_COLOR: '0' }, true, true],
])('wantsColour with %j and terminal %s returns %s', (variables, isTerminal, isColoured) => {
  expect(wantsColour(variables, isTerminal)).toBe(isColoured);
});

it('a command that fails to print to a full disk reports it in one sentence', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const print = (): never => {
    throw full;
  };
  expect(await iss(['completion', 'bash'], { print })).toEqual({
    exitCode: 1,
    printed: '',
    complaint: 'The command failed: ENOSPC: no space left on device, write.',
  });
});

describe('the command line', () => {
  it('lists commands and exit codes without arguments and with help', async () => {
    for (const words of [[], ['help'], ['--help']]) {
      const { exitCode, printed } = await iss(words);
      expect(exitCode).toBe(0);
      expect(printed).toMatch(/Versions:\n {2}iss put [^]*Exit codes:\n {2}0 /);
    }
  });

  it('prints the usage of a command with help and --help', async () => {
    for (const words of [
      ['help', 'diff'],
      ['diff', '--help'],
    ]) {
      expect((await iss(words)).printed).toMatch(/^Usage: iss diff SUBJECT \[FROM\.\.TO\][^]*Exit codes:/);
    }
  });

  it.each([
    ['gte', /^Unknown command gte\. Did you mean get\? iss --help/],
    ['', /^Name a command\. The commands are:\nIdentity:/],
    ['--loud', /^Unknown option '--loud'\. iss --help/],
    ['get', /^Missing required argument 'SUBJECT\[@VERSION\]'\.\nUsage: iss get SUBJECT/],
    ['get a b', /^Too many arguments[^]*Usage: iss get SUBJECT/],
    ['get a --as-of', /^Option '--as-of <TIME>' argument missing\.\nUsage: iss get/],
    ['get a@1 --as-of 2026-01-01T00:00:00Z', /^SUBJECT@VERSION and --as-of exclude/],
    ['get a --basis effective', /^--basis applies to --as-of/],
    ['get organization/', /^The subject has no id/],
    ['help nothing', /^Unknown command nothing\. iss --help/],
    ['nothing --help', /^Unknown command nothing\./],
    ['admin nothing --help', /^Unknown command admin nothing\./],
    ['diff a 1..2 --json --policy policy', /^--json prints the diff of the service, which --policy cannot prove/],
    ['diff a 1-2', /^The versions must be FROM\.\.TO/],
    ['diff a 1', /^Version 1 has no previous version/],
    ['blame a attributes', /^PATH must be a JSON Pointer/],
    ['propose a', /^No change is named/],
    ['propose a --set name', /^--set takes a JSON Pointer/],
    ['propose a --set /attributes/name', /^--set takes PATH=JSON/],
    ['propose a --remove attributes', /^--remove takes a JSON Pointer/],
    ['propose a --evidence none.json', /^none\.json cannot be read \(ENOENT\)/],
    ['proposals --status open', /^--status takes one of proposed, applied, withdrawn/],
    ['put none.json', /^none\.json cannot be read \(ENOENT\)/],
    ['login', /^No service is named/],
    ['login --base-url localhost', /^--base-url takes an http\(s\) URL/],
  ])('iss %s exits with 2 and explains how to fix the call', async (words, complaint) => {
    const settings = settingsOf({ XDG_CONFIG_HOME: '/nowhere' }, 'linux');
    const outcome = await iss(words.split(' '), { settings });
    expect(outcome).toMatchObject({ exitCode: 2, printed: '' });
    expect(outcome.complaint).toMatch(complaint);
  });
});
