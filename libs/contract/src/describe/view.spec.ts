import { alias, constant, listOf } from './field';
import { part, view } from './view';
import { count, flag, oneOf, SubjectRef, text, time, uuid } from './fields';

const Loan = view('Loan', {
  loan_id: uuid.from('id'),
  id: alias('loan_id'),
  subject: SubjectRef.fromRecord(),
  subject_id: alias('subject.subject_id'),
  status: oneOf(['lent', 'returned']).described('`returned`: it is back.'),
  due_at: time,
  returned_at: time.nullable(),
  note: text.optional(),
});

const lent = {
  id: '3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52',
  subjectType: 'individual',
  subjectId: 'ada',
  status: 'lent',
  dueAt: new Date('2026-02-01T00:00:00Z'),
  returnedAt: null,
  note: null,
} as const;

const shown = {
  loan_id: lent.id,
  id: lent.id,
  subject: { subject_type: 'individual', subject_id: 'ada' },
  subject_id: 'ada',
  status: 'lent',
  due_at: '2026-02-01T00:00:00.000Z',
  returned_at: null,
};

describe('view', () => {
  it('maps a record by name, by another name, from the record itself, and to aliases', () => {
    expect(Loan.of(lent)).toStrictEqual(shown);
    expect(Loan.of({ ...lent, returnedAt: lent.dueAt, note: 'thanks' })).toStrictEqual({
      ...shown,
      returned_at: '2026-02-01T00:00:00.000Z',
      note: 'thanks',
    });
  });

  it('omits members of the record that it does not declare', () => {
    expect(Loan.of({ ...lent, secret: 'x' } as typeof lent)).toStrictEqual(shown);
  });

  it('has a schema with deprecated aliases', () => {
    expect(Loan.facts.shown).toStrictEqual({
      title: 'Loan',
      type: 'object',
      properties: {
        loan_id: { type: 'string', format: 'uuid' },
        id: { type: 'string', format: 'uuid', deprecated: true, description: 'Alias of loan_id.' },
        subject: SubjectRef.facts.shown,
        subject_id: { type: 'string', deprecated: true, description: 'Alias of subject.subject_id.' },
        status: { type: 'string', enum: ['lent', 'returned'], description: '`returned`: it is back.' },
        due_at: { type: 'string', format: 'date-time' },
        returned_at: { type: ['string', 'null'], format: 'date-time' },
        note: { type: 'string' },
      },
      required: ['loan_id', 'id', 'subject', 'subject_id', 'status', 'due_at', 'returned_at'],
    });
  });

  it('can be nested in other views, wrapped or as a list', () => {
    const Wrapped = view('Wrapped', { ...Loan.fields, loan: Loan.fromRecord().deprecated() });
    expect(Wrapped.of(lent)).toStrictEqual({ ...shown, loan: shown });
    expect(Wrapped.facts.shown['properties']).toMatchObject({
      loan: { allOf: [Loan.facts.shown], deprecated: true },
    });
    const Loans = part({ items: listOf(Loan), total: count, is_whole: flag, kind: constant('loans') });
    const loans = Loans.of({ items: [lent, lent], total: 2, isWhole: true });
    expect(loans).toStrictEqual({ items: [shown, shown], total: 2, is_whole: true, kind: 'loans' });
  });

  it('keeps stored JSON text unchanged, after the other members', () => {
    const Entry = view('Entry', { content: part({ amount: count }).from('body').asText(), entry_id: text });
    const record = { entryId: 'e-1', body: '{ "amount": 1.0 }' };
    expect(Entry.textOf(record)).toBe('{"entry_id":"e-1","content":{ "amount": 1.0 }}');
    expect(Entry.of(record)).toStrictEqual({ content: { amount: 1 }, entry_id: 'e-1' });
  });

  it('cannot be declared with an alias of an unknown field', () => {
    expect(() => view('Broken', { a: alias('b') })).toThrow('no field b');
    expect(() => view('Broken', { a: text, b: alias('a.c') })).toThrow('a is not a part');
  });
});
