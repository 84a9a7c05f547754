import { DIFF_ROOTS, type DiffRoot, DomainError, type ErrorDetail, MAX_SNAPSHOT_VERSION } from '@iss/domain';
import { DEFAULT_INCLUDE, VersionDiffQuery } from '@iss/contract';
import type { VersionSide } from './diff.service';
import { asOfSent } from '../snapshot/snapshot.query';

/** Returns the roots that a query includes, in a fixed order without duplicates. */
export function includedRoots(include = DEFAULT_INCLUDE): DiffRoot[] {
  const asked = include.split(',');
  return DIFF_ROOTS.filter((root) => asked.includes(root));
}

/** The two parameters with which a query can name a side. */
const SIDES = [
  ['from_version', 'from_as_of'],
  ['to_version', 'as_of'],
] as const;

type Side = (typeof SIDES)[number];

/** Returns the two sides. Throws `validation_error` unless each is named by exactly one parameter. */
export function requireSides(sent: VersionDiffQuery): { from: VersionSide; to: VersionSide } {
  const details = SIDES.flatMap((side) => faultsOf(sent, side));
  if (details.length > 0) {
    throw new DomainError('validation_error', 'The request is not valid. See details for each place.', details);
  }
  return { from: sideOf(sent, SIDES[0]), to: sideOf(sent, SIDES[1]) };
}

function faultsOf(sent: VersionDiffQuery, [version, moment]: Side): ErrorDetail[] {
  const text = sent[version];
  const hasMoment = sent[moment] !== undefined;
  if (text === undefined && !hasMoment) {
    return [{ path: `/query/${version}`, message: `send ${version} or ${moment}`, code: 'required' }];
  }
  if (text !== undefined && hasMoment) {
    return [
      {
        path: `/query/${moment}`,
        message: `${moment} and ${version} name the same side: send only one`,
        code: 'mismatch',
      },
    ];
  }
  if (Number(text ?? 1) <= MAX_SNAPSHOT_VERSION) return [];
  return [{ path: `/query/${version}`, message: `must be at most ${MAX_SNAPSHOT_VERSION}`, code: 'too_large' }];
}

function sideOf(sent: VersionDiffQuery, [version, moment]: Side): VersionSide {
  return asOfSent({ as_of: sent[moment], basis: sent.basis }) ?? Number(sent[version]);
}
