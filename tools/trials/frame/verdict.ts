/** What became of one thing that a trial looks at. */
export interface Verdict {
  readonly word: 'holds' | 'BROKEN' | 'skipped';
  readonly text: string;
}

export const WORDS = { all: ['holds', 'BROKEN', 'skipped'], longest: 7 } as const;

/** The verdicts among the lines that a trial printed. */
export function verdictsIn(output: string): Verdict[] {
  return output.split('\n').flatMap((line) => {
    const word = WORDS.all.find((name) => line.startsWith(`${name} `));
    return word === undefined ? [] : [{ word, text: line.slice(WORDS.longest).trim() }];
  });
}
