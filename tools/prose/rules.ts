/** A form that plain English avoids. The pattern is applied to one sentence, with `Code` for inline code. */
export interface Rule {
  name: string;
  pattern: RegExp;
  fix: string;
}

const MAX_WORDS = 40;

export const RULES: readonly Rule[] = [
  {
    name: 'clause-as-subject',
    pattern: /^(What|Whatever|Who|Whoever|Whose|Whether|Which)\b(?![^.?!]*\?)/,
    fix: 'Begin with the actor, then the verb.',
  },
  {
    name: 'fronted-object',
    pattern:
      /^(Of (what|whom|which|an?|the|all|those|each|it|them|others?)|By (which|whom|what)|To whom|From (when|whom|which) on|With whom|In which|Behind which|For whom)\b/,
    fix: 'Put the object after its verb or noun.',
  },
  {
    name: 'where-clause-first',
    pattern: /^Where (there|it|that|nobody|somebody|nothing|something|no|one|an?|the)\b/,
    fix: 'Write "If …" or "When …", or put the clause at the end.',
  },
  {
    name: 'stands',
    pattern: /\bstands? (here|there|in|on|beside|behind|for it|where|once|as)/,
    fix: 'Write "is", "is stored in", "is next to" or "is described in".',
  },
  {
    name: 'is-told',
    pattern: /\b(is|are|was|were|be) told\b/,
    fix: 'Write "is notified", "is returned" or "is reported".',
  },
  {
    name: 'is-had',
    pattern: /\b(is|are|was|were|be) (had|shown anew|begun)\b/,
    fix: 'Write "is acquired", "is available" or "starts".',
  },
  { name: 'goes-on', pattern: /\b(goes|go|gone) on\b(?! to)/, fix: 'Write "continues".' },
  { name: 'holds-up', pattern: /\b(holds?|held) up\b/, fix: 'Write "delays" or "blocks".' },
  { name: 'anew', pattern: /\banew\b/, fix: 'Write "again", "new" or "restarts".' },
  { name: 'of-before', pattern: /\b(of before|the one before)\b/, fix: 'Write "previous" or "earlier".' },
  { name: 'way-out', pattern: /\bway out\b/, fix: 'Say how to fix it.' },
  {
    name: 'unless-said',
    pattern: /\b(unless said|where said|said otherwise)\b/,
    fix: 'Write "by default" or "unless configured".',
  },
  {
    name: 'archaic-phrase',
    pattern: /\b(besides? those|all the same|no more\b(?= (by|from)|,|\.)|so long as much)\b/,
    fix: 'Write "in addition", "nevertheless" or "no longer".',
  },
  { name: 'whoever', pattern: /\b(whoever|whichever|whomever|somebody else['’]s)\b/i, fix: 'Name the actor.' },
  {
    name: 'long-sentence',
    pattern: new RegExp(`^(\\S+\\s+){${MAX_WORDS}}\\S`),
    fix: `Write at most ${MAX_WORDS} words: make several sentences or a list.`,
  },
];

/** Returns the first rule that a sentence breaks. Titles and cells of up to four words are not sentences. */
export function findBrokenRule(sentence: string): Rule | undefined {
  const isSentence = /[.!?:]$/.test(sentence) || sentence.split(/\s+/).length > 4;
  return isSentence ? RULES.find(({ pattern }) => pattern.test(sentence)) : undefined;
}
