import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { repositoryRoot } from '../root.ts';
import {
  execute,
  isList,
  isTrue,
  parseTemplate,
  printed,
  type Callable,
  type Definitions,
  type Fields,
  type Value,
} from './go-template.ts';

export const chartFolder = join(repositoryRoot, 'deploy/chart');

/** Kubernetes and Helm read YAML 1.1, in which an unquoted `off` is a boolean. */
export const YAML = { version: '1.1' } as const;

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  [member: string]: unknown;
}

export interface Release {
  name: string;
  namespace: string;
}

export interface Rendered {
  manifests: Manifest[];
  notes: string;
}

/**
 * Renders the chart as `helm template` does, with these values over its own. If a template fails, throws the message of its
 * `required` or `fail`. Does not check the values; `values.schema.json` does.
 */
export function renderChart(release: Release, values: Fields): Rendered {
  const definitions: Definitions = new Map();
  const files = globSync('templates/*', { cwd: chartFolder }).sort();
  const templates = files.map((file) => ({
    file,
    steps: parseTemplate(file, readFileSync(join(chartFolder, file), 'utf8'), definitions),
  }));
  const chart = fields(parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8'), YAML));
  const context: Fields = {
    Values: overlaid(defaultValues(), values),
    // Helm uses Go's names for the members of Chart.yaml.
    Chart: Object.fromEntries(
      Object.entries(chart).map(([name, value]) => [name[0]?.toUpperCase() + name.slice(1), value]),
    ),
    Release: { Name: release.name, Namespace: release.namespace, Service: 'Helm' },
    Files: { Get: (file) => readFileSync(join(chartFolder, text(file)), 'utf8') },
  };
  const functions: Record<string, Callable> = {
    ...FUNCTIONS,
    include: (name, dot = null) => {
      const steps = definitions.get(text(name));
      if (steps === undefined) throw new Error(`template: no template "${text(name)}"`);
      return execute(steps, dot, functions);
    },
  };
  const written = templates.map(({ file, steps }) => {
    try {
      return { file, text: execute(steps, context, functions) };
    } catch (error) {
      throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  });
  const isManifest = (file: string): boolean => file.endsWith('.yaml');
  return {
    manifests: written.filter(({ file }) => isManifest(file)).flatMap((one) => manifestsOf(one.file, one.text)),
    notes: written.find(({ file }) => basename(file) === 'NOTES.txt')?.text ?? '',
  };
}

export const defaultValues = (): Fields => fields(parse(readFileSync(join(chartFolder, 'values.yaml'), 'utf8'), YAML));

/** Merges values as Helm does: maps by member, other values as a whole; null removes a member. */
export function overlaid(below: Fields, above: Fields): Fields {
  const result: Record<string, Value> = {};
  for (const name of new Set([...Object.keys(below), ...Object.keys(above)])) {
    const [lower, upper] = [below[name], above[name]];
    if (upper === null) continue;
    if (isFields(lower) && isFields(upper)) result[name] = overlaid(lower, upper);
    else result[name] = upper ?? lower ?? null;
  }
  return result;
}

function manifestsOf(file: string, written: string): Manifest[] {
  return parseAllDocuments(written, YAML).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`);
    const manifest: unknown = document.toJS();
    if (manifest === null) return [];
    if (!isManifest(manifest)) throw new Error(`${file}: ${JSON.stringify(manifest).slice(0, 100)} is not a manifest`);
    return [manifest];
  });
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null || !('apiVersion' in value) || !('kind' in value)) return false;
  if (typeof value.apiVersion !== 'string' || typeof value.kind !== 'string' || !('metadata' in value)) return false;
  const { metadata } = value;
  return typeof metadata === 'object' && metadata !== null && 'name' in metadata && typeof metadata.name === 'string';
}

const isFields = (value: Value | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !isList(value);

/** Every value of a YAML file can be a value of templates. */
function fields(parsed: unknown): Fields {
  const value = toValue(parsed);
  if (!isFields(value)) throw new Error('expected a map');
  return value;
}

function toValue(parsed: unknown): Value {
  if (parsed === null || parsed === undefined) return null;
  if (typeof parsed === 'string' || typeof parsed === 'number' || typeof parsed === 'boolean') return parsed;
  if (Array.isArray(parsed)) return parsed.map(toValue);
  if (typeof parsed !== 'object') throw new Error(`${typeof parsed} is not a value`);
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, toValue(value)]));
}

function text(value: Value | undefined): string {
  if (typeof value !== 'string') throw new Error(`expected a text, not ${JSON.stringify(value)}`);
  return value;
}

function whole(value: Value | undefined): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' || typeof value === 'string') return BigInt(Math.trunc(Number(value)));
  throw new Error('expected a number');
}

/** Compares two values of one type. Go refuses to compare others. */
function isEqual(left: Value | undefined, right: Value | undefined): boolean {
  if (left !== null && right !== null && typeof left !== typeof right)
    throw new Error('incompatible types for comparison');
  return left === right;
}

const indent = (spaces: Value | undefined, given: Value | undefined): string => {
  const padding = ' '.repeat(Number(whole(spaces)));
  return padding + text(given).replaceAll('\n', `\n${padding}`);
};

/** The functions of Go, sprig and Helm that the chart uses. */
const FUNCTIONS: Record<string, Callable> = {
  eq: (left, ...rights) => rights.some((right) => isEqual(left, right)),
  not: (value = null) => !isTrue(value),
  default: (fallback = null, value = null) => (isTrue(value) ? value : fallback),
  required: (sentence, value = null) => {
    if (value === null || value === '') throw new Error(text(sentence));
    return value;
  },
  fail: (sentence) => {
    throw new Error(text(sentence));
  },
  printf: (format, ...given) =>
    text(format).replace(/%([sd%])/g, (_, verb) => (verb === '%' ? '%' : printed(given.shift() ?? null))),
  quote: (value = null) => (value === null ? '' : JSON.stringify(printed(value))),
  nindent: (spaces, given) => `\n${indent(spaces, given)}`,
  int: (value) => whole(value),
  add: (...given) => given.reduce<bigint>((sum, value) => sum + whole(value), 0n),
  div: (left, right) => whole(left) / whole(right),
  dict: (...given) =>
    Object.fromEntries(
      given.flatMap((name, index) => (index % 2 === 0 ? [[text(name), given[index + 1] ?? null]] : [])),
    ),
  list: (...given) => given,
  append: (items = null, item = null) => [...(isList(items) ? items : []), item],
  toYaml: (value) => stringify(value, { ...YAML, sortMapEntries: true, lineWidth: 0 }).trimEnd(),
  sha256sum: (value) => createHash('sha256').update(text(value)).digest('hex'),
};
