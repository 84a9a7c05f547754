import { DomainError, type ErrorDetail } from '@iss/domain';
import { errorBody } from './error-body';

const REQUEST_ID = 'r'.repeat(128);
const sent = (details: ErrorDetail[], message = 'Wrong.') =>
  errorBody(new DomainError('validation_error', message, details), REQUEST_ID);
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

it('errorBody has the code, message and details of the error', () => {
  const details = [{ path: '/a', message: 'is required', code: 'required' }];
  expect(sent(details)).toEqual({
    error: { code: 'validation_error', message: 'Wrong.', details, request_id: REQUEST_ID },
  });
  expect(errorBody(new DomainError('forbidden', 'No.'), 'r')).toEqual({
    error: { code: 'forbidden', message: 'No.', request_id: 'r' },
  });
});

it('errorBody lists at most the first hundred details', () => {
  const details = Array.from({ length: 100_000 }, (_, at) => ({ path: `/${at}`, message: 'no', code: 'x' }));
  expect(sent(details).error.details).toEqual(details.slice(0, 100));
});

it('errorBody cuts paths to 256 characters without splitting a character', () => {
  const paths = ['k'.repeat(256), 'k'.repeat(257), `${'k'.repeat(254)}🏔🏔`];
  const cut = sent(paths.map((path) => ({ path, message: 'no' }))).error.details?.map(({ path }) => path);
  expect(cut).toEqual(['k'.repeat(256), `${'k'.repeat(255)}…`, `${'k'.repeat(254)}…`]);
});

it.each(['k', '\u0000', '"', 'ü', '🏔', '\ud800'])(
  'errorBody has at most 64 KiB if all texts consist of %j',
  (character) => {
    const text = character.repeat(1_000_000);
    const body = sent(
      Array.from({ length: 100 }, () => ({ path: text, message: text, code: 'unknown_field' })),
      text,
    );
    expect(bytesOf(body)).toBeLessThanOrEqual(64 * 1024);
    expect(body.error.details?.length).toBeGreaterThan(0);
  },
);
