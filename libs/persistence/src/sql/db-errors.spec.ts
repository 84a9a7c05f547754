import { DomainError } from '@iss/domain';
import { isRetryable, StatementGivenUp, toDomainError } from './db-errors';

const failure = (code: string, constraint?: string): Error => Object.assign(new Error('driver'), { code, constraint });

it.each([
  [failure('23505', 'subjects_identity_key'), 'conflict'],
  [failure('23505', 'snapshots_version_key'), 'conflict'],
  [failure('23505', 'snapshots_version_key_p12'), 'conflict'],
  [failure('40001'), 'conflict'],
  [failure('40P01'), 'conflict'],
  [failure('57P01'), 'unavailable'],
  [failure('57014'), 'unavailable'],
  // Disk full, out of memory, no connection left, lock timeout, read-only, and a failing disk.
  [failure('53100'), 'unavailable'],
  [failure('53200'), 'unavailable'],
  [failure('53300'), 'unavailable'],
  [failure('55P03'), 'unavailable'],
  [failure('25006'), 'unavailable'],
  [failure('25P03'), 'unavailable'],
  [failure('58030'), 'unavailable'],
  [failure('08007'), 'unavailable'],
  [failure('08006'), 'unavailable'],
  [failure('ECONNREFUSED'), 'unavailable'],
  [new Error('Connection terminated unexpectedly'), 'unavailable'],
  [new Error('timeout exceeded when trying to connect'), 'unavailable'],
  [new Error('Query read timeout'), 'unavailable'],
])('maps %o to %s without the driver’s message', (error, code) => {
  const explained = toDomainError(error);
  expect(explained).toBeInstanceOf(DomainError);
  expect(explained).toMatchObject({ code, message: expect.not.stringContaining('driver') });
});

it('maps only a statement timeout to StatementGivenUp', () => {
  const errors = ['57014', '57P01', '08006', 'ECONNRESET'].map((code) => toDomainError(failure(code)));
  expect(errors.map((error) => error instanceof StatementGivenUp)).toEqual([true, false, false, false]);
});

it('returns an unknown error unchanged', () => {
  for (const error of [failure('42601'), failure('23505', 'unheard_of'), new Error('bug'), 'text']) {
    expect(toDomainError(error)).toBe(error);
  }
});

it('isRetryable accepts only serialization failures and deadlocks', () => {
  expect(['40001', '40P01', '23505', '57014'].map((code) => isRetryable(failure(code)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
