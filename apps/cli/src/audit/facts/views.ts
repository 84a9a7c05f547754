import { createHmac, hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { isText, type Row } from '../database';
import { type Found, report } from '../findings';
import { memberOf } from './envelopes';

/** Joins the view `v` of the version `n`. */
export const VIEW_OF_VERSION = `
  LEFT JOIN LATERAL (SELECT * FROM snapshot_views v
                      WHERE v.subject_key = n.subject_key AND v.snapshot_version = n.snapshot_version LIMIT 1) v ON true`;

/** The columns for {@link checkView}. */
export const VIEW_COLUMNS = `encode(v.view_hash, 'hex'), encode(v.view_secret, 'base64')`;

/** Claim names of RFC 9901. Members with these names are in no view. */
const RESERVED = ['_sd', '...'];
/** Digests are filled up to a power of two, at least this. */
const FEWEST = 4;

interface ViewedVersion {
  /** The value of the envelope; undefined if its text is not canonical. Null after an erasure. */
  envelope: unknown;
  envelopeHash: Row[number] | undefined;
  prevHash: Row[number] | undefined;
  viewHash: Row[number] | undefined;
  /** Base64. */
  viewSecret: Row[number] | undefined;
}

/** Recomputes the hash of a view from the envelope and the secret in its row, as docs/log.md describes it. */
export function checkView(found: Found, where: string, version: ViewedVersion): void {
  const { envelope, viewHash, viewSecret } = version;
  if (envelope === null && isText(viewSecret))
    report(found, 'not_erased', where, 'the secret of its view still exists');
  if (envelope === undefined || envelope === null || (viewHash === null && viewSecret === null)) return;
  if (!isText(viewSecret)) {
    report(found, 'view', where, 'the secret of its view is missing, and no erasure destroyed it');
    return;
  }
  const computed = hash('sha256', payloadOf(version, Buffer.from(viewSecret, 'base64')), 'hex');
  if (computed !== viewHash)
    report(found, 'view', where, `its view has the hash ${computed}, but view_hash is ${viewHash}`);
}

/** Returns the RFC 8785 text of the payload of a view. */
function payloadOf({ envelope, envelopeHash, prevHash }: ViewedVersion, secret: Uint8Array): string {
  const salt = (text: string): string =>
    createHmac('sha256', secret).update(text).digest().subarray(0, 16).toString('base64url');

  /** Returns the digests of the disclosures of `parts` and of decoys. `withName` is true for the members of an object. */
  const digests = (pointer: string, parts: readonly [string, unknown][], withName: boolean): string[] => {
    const all = parts.map(([name, value]) => {
      const start = salt(below(pointer, name));
      const text = canonicalize(withName ? [start, name, value] : [start, value]) ?? '';
      return hash('sha256', Buffer.from(text).toString('base64url'), 'base64url');
    });
    let count = FEWEST;
    while (count < all.length) count *= 2;
    const decoy = salt(`decoys ${pointer}`);
    while (all.length < count) all.push(hash('sha256', `${decoy}${all.length}`, 'base64url'));
    return all;
  };
  const object = (pointer: string, parts: readonly [string, unknown][]) => ({
    _sd: digests(pointer, parts, true).sort(),
  });
  const array = (pointer: string, parts: readonly [string, unknown][]) =>
    digests(pointer, parts, false).map((digest) => ({ '...': digest }));
  const node = (pointer: string, value: unknown): unknown => {
    const inside = ([name, part]: [string, unknown]): [string, unknown] => [name, node(below(pointer, name), part)];
    if (Array.isArray(value)) return array(pointer, Object.entries(value).map(inside));
    if (typeof value === 'object' && value !== null)
      return object(pointer, Object.entries(value).filter(isNamed).map(inside));
    return value;
  };

  const payload = {
    ...membersOf(envelope, ['generated_at', 'snapshot_id', 'snapshot_version']),
    subject: membersOf(memberOf(envelope, 'subject'), ['subject_type', 'subject_id']),
    _sd_alg: 'sha-256',
    attributes: node('/attributes', objectIn(envelope, 'attributes')),
    attribute_paths: object('/attribute_paths', wholeParts(objectIn(envelope, 'attribute_paths'))),
    evidence: array('/evidence', wholeParts(memberOf(envelope, 'evidence'))),
    envelope_hash: envelopeHash,
    prev_hash: prevHash,
  };
  return canonicalize(payload) ?? '';
}

/** Returns the parts of an object or array that a view has as a whole. */
function wholeParts(value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).filter((part) => isNamed(part) && !hasReserved(part[1]));
}

function isNamed([name]: [string, unknown]): boolean {
  return !RESERVED.includes(name);
}

function hasReserved(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some((part) => !isNamed(part) || hasReserved(part[1]));
}

function below(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function objectIn(envelope: unknown, name: string): unknown {
  const value = memberOf(envelope, name);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function membersOf(value: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.map((name) => [name, memberOf(value, name)]).filter(([, member]) => member !== undefined),
  );
}
