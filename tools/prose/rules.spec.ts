import { findBrokenRule, RULES } from './rules.ts';

const words = (count: number) => `It reads ${'word '.repeat(count - 3)}last.`;

const EXAMPLES: Record<string, { refused: string; accepted: string }> = {
  'clause-as-subject': { refused: 'What failed is tried again.', accepted: 'What failed?' },
  'fronted-object': { refused: 'Of a list the names are returned.', accepted: 'The names of the list are returned.' },
  'where-clause-first': {
    refused: 'Where there is no queue, the worker polls.',
    accepted: 'If there is no queue, the worker polls.',
  },
  stands: { refused: 'The key stands in the header.', accepted: 'The key is in the header.' },
  'is-told': { refused: 'The owner is told of the grant.', accepted: 'The owner is notified of the grant.' },
  'is-had': { refused: 'The lock is had within a second.', accepted: 'The lock is acquired within a second.' },
  'goes-on': { refused: 'The log goes on after a restart.', accepted: 'The worker goes on to the next delivery.' },
  'holds-up': { refused: 'A slow reader holds up nobody.', accepted: 'A slow reader does not delay anyone else.' },
  anew: { refused: 'The backfill begins anew.', accepted: 'The backfill restarts.' },
  'of-before': { refused: 'The keys of before are accepted.', accepted: 'The previous keys are accepted.' },
  'way-out': { refused: 'There is no way out of this state.', accepted: 'To leave this state, restart the worker.' },
  'unless-said': { refused: 'It waits a second unless said otherwise.', accepted: 'By default, it waits a second.' },
  'archaic-phrase': { refused: 'It is read by this grant no more.', accepted: 'No more than 100 grants are read.' },
  whoever: { refused: 'The answer goes to whoever asked first.', accepted: 'The answer goes to the first caller.' },
  'long-sentence': { refused: words(41), accepted: words(40) },
};

describe('findBrokenRule', () => {
  it.each(RULES)('$name: refuses one sentence and accepts the other', ({ name }) => {
    const { refused, accepted } = EXAMPLES[name] ?? {};
    expect(findBrokenRule(refused ?? '')?.name).toBe(name);
    expect(findBrokenRule(accepted ?? '')).toBeUndefined();
  });

  it('accepts a short title', () => {
    expect(findBrokenRule('What they may read')).toBeUndefined();
    expect(findBrokenRule('What they may read.')?.name).toBe('clause-as-subject');
  });
});
