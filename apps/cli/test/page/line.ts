/** Parses a line like a shell, with the few features that the examples need. */
export interface Line {
  words: readonly string[];
  inputFile: string | null;
  outputFile: string | null;
}

/** @throws Error if the line does not call `iss` */
export function readLine(line: string, kept: ReadonlyMap<string, string>): Line {
  const filled = line.replace(/\$([A-Z]+)/g, (_whole, name: string) => {
    const value = kept.get(name);
    if (value === undefined) throw new Error(`No line before kept $${name}: ${line}`);
    return value;
  });
  const words = [...filled.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );
  const files: Record<'<' | '>', string | null> = { '<': null, '>': null };
  for (const sign of ['<', '>'] as const) {
    const at = words.indexOf(sign);
    if (at >= 0) [, files[sign] = null] = words.splice(at, 2);
  }
  const [command, ...rest] = words;
  if (command !== 'iss') throw new Error(`Not a line of iss: ${line}`);
  return { words: rest, inputFile: files['<'], outputFile: files['>'] };
}
