// Names of streams. A name is a letter and parts, separated by slashes. Parts are escaped, so that two different lists of
// parts never have the same name.

/** The versions of a subject. Their numbers are the snapshot versions. */
export const versionStream = (type: string, id: string): string => join('v', type, id);

/** The events of one grant: created, changed, revoked. */
export const grantStream = (grantId: string): string => join('g', grantId);

/** All changes of access to a subject. */
export const accessStream = (type: string, id: string): string => join('a', type, id);

/** The grants of a subject to one tenant. */
export const granteeStream = (grantee: string, type: string, id: string): string => join('p', grantee, type, id);

/** The grants of a tenant on all its subjects. */
export const grantorStream = (grantor: string): string => join('w', grantor);

/** The owners of a tenant. */
export const ownerStream = (tenant: string): string => join('o', tenant);

/** The erasures of a subject. */
export const erasureStream = (type: string, id: string): string => join('e', type, id);

/** The audit records of a tenant. */
export const auditStream = (tenant: string): string => join('d', tenant);

/** The disclosures of a subject. */
export const disclosureStream = (type: string, id: string): string => join('r', type, id);

const ESCAPES: Readonly<Record<string, string>> = { '%': '%25', '/': '%2F', '\n': '%0A' };

function join(letter: string, ...parts: readonly string[]): string {
  return [letter, ...parts.map((part) => part.replace(/[%/\n]/g, (character) => ESCAPES[character] ?? character))].join(
    '/',
  );
}
