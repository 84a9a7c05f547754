import { continueTrace } from './request-id';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const VALID = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/;

describe('continueTrace', () => {
  it.each([
    ['01', '01'],
    ['00', '00'],
    ['03', '01'],
    ['fe', '00'],
  ])('keeps the trace and the sampling flag of %s, under a new span', (given, flags) => {
    const ours = continueTrace(`00-${TRACE_ID}-${SPAN_ID}-${given}`);
    expect(ours).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-${flags}$`));
    expect(ours).not.toContain(SPAN_ID);
  });

  it.each([
    [undefined],
    [''],
    [`00-${TRACE_ID}-${SPAN_ID}`],
    [`01-${TRACE_ID}-${SPAN_ID}-01`],
    [`ff-${TRACE_ID}-${SPAN_ID}-01`],
    [`00-${'0'.repeat(32)}-${SPAN_ID}-01`],
    [`00-${TRACE_ID}-${'0'.repeat(16)}-01`],
    [`00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`],
    [`00-${TRACE_ID}-${SPAN_ID}-01-extra`],
    [`00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`],
    [`00-${TRACE_ID}-${SPAN_ID}-01\n`],
    [[`00-${TRACE_ID}-${SPAN_ID}-01`]],
  ])('starts a new trace for the invalid %j', (given) => {
    const ours = continueTrace(given);
    expect(ours).toMatch(VALID);
    expect(ours).not.toContain(TRACE_ID);
    expect(continueTrace(given)).not.toBe(ours);
  });
});
