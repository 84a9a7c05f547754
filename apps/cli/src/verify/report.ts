import { type Proved, reportOf, type Since } from '@iss/proof';
import { visible } from '../visible';

/** Formats the result of a verification as text. */
export function asText(file: string, proved: Proved, since: Since | null): string {
  const { rows, notProved } = reportOf(proved, since);
  const width = Math.max(...rows.map(([heading]) => heading.length)) + 2;
  return [
    `Proved: ${visible(file)}`,
    '',
    ...rows.map(([heading, text]) => `  ${visible(heading).padEnd(width)}${visible(text)}`),
    '',
    'Not proved:',
    ...notProved.map((one) => `  - ${one}`),
  ].join('\n');
}
