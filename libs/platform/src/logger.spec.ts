import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createLogger, lineWriter, NestLogger } from './logger';

function capture(): { lines: () => Record<string, unknown>[]; logger: ReturnType<typeof createLogger> } {
  const written: string[] = [];
  const logger = createLogger({ name: 'gateway', level: 'trace' }, { write: (line) => void written.push(line) });
  return { lines: () => written.map((line) => JSON.parse(line)), logger };
}

describe('createLogger', () => {
  it('writes JSON lines with name and time', () => {
    const { lines, logger } = capture();
    logger.info({ request_id: 'r1' }, 'Ready');
    expect(lines()).toEqual([expect.objectContaining({ name: 'gateway', level: 30, msg: 'Ready', request_id: 'r1' })]);
    expect(Date.parse(String(lines()[0]?.['time']))).not.toBeNaN();
  });

  it('redacts credentials, secrets and attributes at every depth', () => {
    const { lines, logger } = capture();
    const secret = 'hunter2';
    logger.info({
      authorization: secret,
      req: {
        headers: { authorization: secret, cookie: secret },
        body: { attributes: { name: secret }, envelope: secret },
      },
      res: { headers: { 'set-cookie': secret } },
      subscription: { secret },
      deep: { er: { and: { secrets: [secret] } } },
      answer: { token: secret, access_token: secret },
      database: { password: secret },
      kept: { subject_id: 'acme' },
    });
    expect(JSON.stringify(lines())).not.toContain(secret);
    expect(lines()[0]).toMatchObject({ authorization: '[redacted]', kept: { subject_id: 'acme' } });
  });

  it('does not change the logged object', () => {
    const { logger } = capture();
    const record = { subscription: { secret: 'a' } };
    logger.info(record);
    expect(record.subscription.secret).toBe('a');
  });
});

describe('standard output', () => {
  const built = JSON.stringify(join(__dirname, '../dist/logger.js'));
  const script = `
    const { createLogger, lineWriter } = require(${built});
    const logger = createLogger({ name: 'gateway', level: 'info' });
    const write = lineWriter(logger, 'info', 'request');
    logger.info('first');
    write({ status: 200 });
    logger.error('last');`;

  it.each([
    ['ends by itself', ''],
    ['exits', 'process.exit(1)'],
    ['fails', 'throw new Error()'],
  ])('contains every line in order when the process %s', (_, end) => {
    const { stdout } = spawnSync(process.execPath, ['-e', script + end], { encoding: 'utf8' });
    const messages = stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line).msg);
    expect(messages).toEqual(['first', 'request', 'last']);
  });
});

describe('lineWriter', () => {
  it('writes the same line as the logger', () => {
    const { lines, logger } = capture();
    const members = { path: '/a"\\\n\u2028', status: 200, duration_ms: 0.125, reason: null };
    logger.info(members, 'request');
    lineWriter(logger, 'info', 'request')(members);
    const [expected, line] = lines();
    const { time, ...others } = line ?? {};
    expect({ ...others, time: expected?.['time'] }).toEqual(expected);
    expect(String(time)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('writes nothing below the level of the logger', () => {
    const written: string[] = [];
    const logger = createLogger({ name: 'gateway', level: 'warn' }, { write: (line) => void written.push(line) });
    lineWriter(logger, 'info', 'request')({ status: 200 });
    expect(written).toEqual([]);
  });
});

describe('NestLogger', () => {
  it('keeps level, context and stack', () => {
    const { lines, logger } = capture();
    const nest = new NestLogger(logger);
    nest.log('Mapped {/v1/x, GET} route', 'RouterExplorer');
    nest.log('Started', 'NestApplication');
    nest.error('Failed', 'Error: Failed\n  at x', 'ExceptionsHandler');
    nest.warn({ attributes: 'personal' });
    nest.error(new Error('Boom'), 'Context');
    nest.fatal('Over');
    expect(lines()).toEqual([
      expect.objectContaining({ level: 30, msg: 'Started', context: 'NestApplication' }),
      expect.objectContaining({
        level: 50,
        msg: 'Failed',
        context: 'ExceptionsHandler',
        stack: expect.stringContaining('at x'),
      }),
      expect.objectContaining({ level: 40, detail: { attributes: '[redacted]' } }),
      expect.objectContaining({
        level: 50,
        msg: 'Boom',
        context: 'Context',
        err: expect.objectContaining({ message: 'Boom' }),
      }),
      expect.objectContaining({ level: 60, msg: 'Over' }),
    ]);
  });
});
