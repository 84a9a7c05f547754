import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

// Signals and exit codes are the process's, so each case is a real one. Node.js reads these two files as they are.
const source = (file: string): string => JSON.stringify(join(__dirname, file));

async function run(script: string, onReady: (child: ChildProcess) => void = () => undefined) {
  const child = spawn(process.execPath, ['--no-warnings', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let isReady = false;
  const read = (chunk: Buffer): void => {
    output += chunk.toString();
    if (isReady || !output.includes('ready')) return;
    isReady = true;
    onReady(child);
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const [code] = await once(child, 'close');
  return { code, output };
}

function shutdown(close: string, timeoutMs = 60_000, then = ''): string {
  return `
    const { onShutdown } = require(${source('shutdown.ts')});
    const write = (fields, text) => console.log(text, fields);
    onShutdown({ logger: { info: write, error: write, fatal: write }, timeoutMs: ${timeoutMs}, close: ${close} });
    setInterval(() => {}, 1000);
    console.log('ready');
    ${then}`;
}

describe('onShutdown', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('closes and exits 0 on %s', async (signal) => {
    const { code, output } = await run(shutdown(`async () => console.log('closed')`), (child) => child.kill(signal));
    expect([code, output]).toEqual([0, expect.stringContaining('closed')]);
  });

  it('exits 1 when closing fails', async () => {
    const { code } = await run(shutdown(`async () => { throw new Error('no') }`), (child) => child.kill('SIGTERM'));
    expect(code).toBe(1);
  });

  it('exits 1 when closing never returns', async () => {
    const { code, output } = await run(shutdown('() => new Promise(() => {})', 50), (child) => child.kill('SIGTERM'));
    expect([code, output]).toEqual([1, expect.stringContaining('too long')]);
  });

  it('exits immediately on a second signal', async () => {
    const script = shutdown(`() => { process.kill(process.pid, 'SIGINT'); return new Promise(() => {}); }`);
    const { code, output } = await run(script, (child) => child.kill('SIGTERM'));
    expect([code, output]).toEqual([1, expect.stringContaining('Second signal')]);
  });

  it.each([`Promise.reject(new Error('lost'))`, `setImmediate(() => { throw new Error('lost') })`])(
    'logs and exits 1 after %s',
    async (failure) => {
      const { code, output } = await run(shutdown('async () => {}', 1000, failure));
      expect([code, output]).toEqual([1, expect.stringContaining('lost')]);
    },
  );
});

describe('requireRuntime', () => {
  it.each([
    [['18.20.0'], 1, /^Node\.js [^\n]*npm start[^\n]*start:gateway[^\n]*\n$/],
    [['22.12.0'], 1, /^Node\.js [^\n]*npm start[^\n]*start:gateway[^\n]*\n$/],
    [['24.0.0', '26.10.0'], 0, /^$/],
  ])('on Node.js %j exits %i', async (versions, expected, text) => {
    const calls = versions.map((version) => `requireRuntime('${version}');`).join('');
    const { code, output } = await run(`const { requireRuntime } = require(${source('runtime.ts')}); ${calls}`);
    expect([code, output]).toEqual([expected, expect.stringMatching(text)]);
  });
});
