/** The result of one check of a trial. */
export interface Verdict {
  readonly word: 'holds' | 'BROKEN' | 'skipped';
  readonly text: string;
}

export const WORDS = { all: ['holds', 'BROKEN', 'skipped'], longest: 7 } as const;

/** Returns the verdicts in the output of a trial. */
export function verdictsIn(output: string): Verdict[] {
  return output.split('\n').flatMap((line) => {
    const word = WORDS.all.find((name) => line.startsWith(`${name} `));
    return word === undefined ? [] : [{ word, text: line.slice(WORDS.longest).trim() }];
  });
}
