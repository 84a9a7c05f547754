import type { Envelope } from '@identity-state/client';
import {
  DomainError,
  getMember,
  isJsonObject,
  type JsonValue,
  parseJson,
  parsePointer,
  parseStoredJson,
  setMember,
} from '@iss/domain';
import { UsageError } from '../command';
import { isEnvelope } from './envelopes';

/** One edit of an envelope: a value to set, or a place to remove. */
export type Edit = { path: string; value: JsonValue } | { path: string };

const MAX_DEPTH = 640;

/** Parses `PATH=JSON`. @throws UsageError */
export function settingOf(text: string): Edit {
  const at = text.indexOf('=');
  const path = at < 0 ? text : text.slice(0, at);
  requirePath('--set', path);
  if (at < 0) throw new UsageError(`--set takes PATH=JSON, such as --set '${text}="Harbour Works plc"'.`);
  const json = text.slice(at + 1);
  try {
    return { path, value: parseJson(Buffer.from(json), { maxDepth: MAX_DEPTH }) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new UsageError(`--set ${path}: ${json} is not valid JSON. Put a text in double quotes: --set '${path}="…"'.`);
  }
}

/** Parses the path of a value to remove. @throws UsageError */
export function removalOf(path: string): Edit {
  requirePath('--remove', path);
  return { path };
}

/** Returns the envelope with the edits. Missing objects on the path of a new value are created. @throws UsageError for an unknown place */
export function applyEdits(envelope: Envelope, changes: readonly Edit[]): Envelope {
  const draft = parseStoredJson(JSON.stringify(envelope));
  for (const change of changes) make(draft, change);
  if (!isEnvelope(draft))
    throw new UsageError('The changes remove the subject or the snapshot_version. An envelope needs both.');
  return draft;
}

function make(document: JsonValue, change: Edit): void {
  const tokens = parsePointer(change.path);
  const last = tokens.pop() ?? '';
  const parent = tokens.reduce((value, token) => childOf(value, token, change), document);
  if (Array.isArray(parent)) editArray(parent, last, change);
  else if (!isJsonObject(parent)) throw noPlace(change);
  else if ('value' in change) setMember(parent, last, change.value);
  else if (Object.hasOwn(parent, last)) delete parent[last];
  else throw noPlace(change);
}

function childOf(value: JsonValue, token: string, change: Edit): JsonValue {
  const child = getMember(value, token);
  if (child !== undefined) return child;
  if (!('value' in change) || !isJsonObject(value)) throw noPlace(change);
  const made: JsonValue = {};
  setMember(value, token, made);
  return made;
}

function editArray(items: JsonValue[], token: string, change: Edit): void {
  const index = token === '-' ? items.length : /^(0|[1-9]\d{0,8})$/.test(token) ? Number(token) : -1;
  if (index < 0 || index > items.length || (index === items.length && !('value' in change))) throw noPlace(change);
  if ('value' in change) items[index] = change.value;
  else items.splice(index, 1);
}

function requirePath(option: string, path: string): void {
  if (!/^\/(?:[^~]|~[01])+$/.test(path)) {
    throw new UsageError(`${option} takes a JSON Pointer into the envelope, such as /attributes/legal/legal_name.`);
  }
}

function noPlace({ path }: Edit): UsageError {
  return new UsageError(`The latest version has no ${path}. iss get shows its values.`);
}
