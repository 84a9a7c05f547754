import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { DomainError, envelopesOfBods, type JsonValue, parseJson } from '@iss/domain';
import { UsageError } from '../command';
import { readWhole } from '../files';

const MAX_DEPTH = 64;
/** In bytes. The statements are held in memory. */
const MAX_FILE = 256_000_000;

/**
 * Converts a file with statements of BODS 0.4 to an archive of envelopes beside it, and returns its name. An archive that is the same
 * is left alone, so that an interrupted import continues. @throws UsageError
 */
export function convertBods(file: string, prefix: string): string {
  const archive = `${file}.envelopes.ndjson`;
  const lines = envelopesIn(file, prefix).map((envelope) => `${JSON.stringify(envelope)}\n`);
  const text = lines.join('');
  if (!existsSync(archive) || readFileSync(archive, 'utf8') !== text) writeFileSync(archive, text);
  return archive;
}

function envelopesIn(file: string, prefix: string) {
  const text = readWhole(file, 'statements', MAX_FILE).toString();
  try {
    return envelopesOfBods(statementsIn(text), prefix);
  } catch (error) {
    if (error instanceof DomainError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

/** Reads an array, or one statement per line. */
function statementsIn(text: string): JsonValue {
  const parse = (part: string): JsonValue => parseJson(Buffer.from(part), { maxDepth: MAX_DEPTH });
  if (text.trimStart().startsWith('[')) return parse(text);
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parse);
}
