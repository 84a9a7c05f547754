import { summarizeEnvelope, type EnvelopeSummary } from './envelope-summary';

const NOTHING: EnvelopeSummary = { attributes: '{}', evidenceCount: 0, hasAttributePaths: false, hasAudit: false };

test.each<[text: string, change: Partial<EnvelopeSummary>]>([
  ['{}', {}],
  ['1', {}],
  ['{"attribute_paths":{},"attributes":{},"audit":{},"evidence":[]}', {}],
  ['{"attribute_paths":[1],"audit":null,"evidence":{"length":2}}', {}],
  ['{"attributes":{"b":1,"a":2}}', { attributes: '{"a":2,"b":1}' }],
  ['{"evidence":[1,2]}', { evidenceCount: 2 }],
  ['{"attribute_paths":{"/attributes/a":[]}}', { hasAttributePaths: true }],
  ['{"audit":{"source":"x"}}', { hasAudit: true }],
])('summarizeEnvelope summarizes %s', (text, change) =>
  expect(summarizeEnvelope({ text })).toEqual({ ...NOTHING, ...change }),
);
