import { fillPath } from '@identity-state/client';
import { Failure, UsageError, wholeNumber } from '../../command';
import { defineCommand } from '../../define';
import { asCaller, CALLER_OPTIONS, type Caller, POLICY_OPTION } from '../../service/caller';
import { type SubjectName, VERSIONED_SUBJECT } from '../../service/subject-name';

/** How long the service waits until a new fact is in the log. */
const WAIT_SECONDS = '10';

/** Streams of a subject and of a tenant, by their names here. */
const OF_SUBJECT: Readonly<Record<string, string>> = { versions: 'v', access: 'a', grants: 'p', disclosures: 'r' };
const OF_TENANT: Readonly<Record<string, string>> = {
  audit: 'd',
  owners: 'o',
  'received-general-grants': 'p',
  'general-grants': 'w',
};

/** The streams whose entries have records. */
const OF_RECORDS = ['disclosures', 'audit'];
const MAX_RECORD = 2_147_483_647;

/** At most one of these options may be given. */
const KIND = {};

export const proof = defineCommand({
  about:
    'It prints the log entry with its proof as JSON for iss verify. Without @VERSION, it uses the latest version. If the log has a map, it also proves what is newest, with --latest, --absence and --state.',
  usage:
    'SUBJECT[@VERSION] | SUBJECT (--latest | --absence STREAM [--records-from N]) | --absence STREAM [--records-from N] | --state GRANT',
  arguments: { subject: { ...VERSIONED_SUBJECT, isOptional: true } },
  options: {
    latest: { about: 'Prove that the latest version is the newest one in the log.', group: KIND },
    absence: {
      value: 'STREAM',
      about:
        'Prove how many facts the log has: with SUBJECT the versions, access (changes of access), grants (to your tenant) or disclosures; without it, your tenant’s audit, owners, general-grants (on all its subjects) or received-general-grants.',
      choices: [...Object.keys(OF_SUBJECT), ...Object.keys(OF_TENANT)],
      group: KIND,
    },
    'records-from': {
      value: 'N',
      about: 'With --absence disclosures or audit, also prove each record from number N on (1: the first).',
      read: wholeNumber(1, MAX_RECORD),
    },
    state: { value: 'GRANT', about: 'Prove the newest state of a grant.', group: KIND },
    ...POLICY_OPTION,
    ...CALLER_OPTIONS,
  },
  async run({ subject: named, latest, absence, state, policy, 'records-from': from }, context, options) {
    const isByMap = latest || absence !== undefined || state !== undefined;
    if (isByMap && policy !== undefined) {
      throw new UsageError('--latest, --absence and --state verify nothing. Pass --policy to iss verify.');
    }
    if (isByMap && (named?.version ?? null) !== null) {
      throw new UsageError('--latest and --absence are not about a single version. Remove @VERSION.');
    }
    if (from !== undefined && !OF_RECORDS.includes(absence ?? '')) {
      throw new UsageError('--records-from needs --absence disclosures or --absence audit.');
    }
    const path = isByMap ? mapPathOf(named?.subject, absence, state) : null;
    await asCaller(options, context, async (caller) => {
      const { tenantId } = caller.tenant;
      const asked = path ?? (await logPathOf(caller, named));
      const { stream } = asked;
      const answer: object | null = await caller.iss.request('GET', fillPath(asked.path, { tenant_id: tenantId }), {
        query: {
          wait: WAIT_SECONDS,
          ...(stream === undefined ? {} : { stream }),
          ...(from === undefined ? {} : { records_from: String(from) }),
        },
      });
      if (answer === null) throw new Failure('The service returned no proof.');
      context.print(JSON.stringify(answer, null, 2));
    });
  },
});

interface Asked {
  readonly path: string;
  readonly stream?: string | undefined;
}

/** Returns the request of a proof by the map. @throws UsageError for a missing or needless subject */
function mapPathOf(subject: SubjectName | undefined, absence: string | undefined, grant: string | undefined): Asked {
  const ofTenant = absence === undefined ? undefined : OF_TENANT[absence];
  const needsNone = ofTenant !== undefined || grant !== undefined;
  if (needsNone !== (subject === undefined)) {
    throw new UsageError(needsNone ? 'This proof is not about a subject. Remove SUBJECT.' : 'Name the SUBJECT.');
  }
  if (grant !== undefined) {
    return { path: fillPath('/v1/tenants/{tenant_id}/grants/{grant_id}/state-proof', { grant_id: grant }) };
  }
  if (subject === undefined) return { path: '/v1/tenants/{tenant_id}/absence-proof', stream: ofTenant };
  const path = fillPath('/v1/tenants/{tenant_id}/subjects/{type}/{id}', { ...subject });
  return absence === undefined
    ? { path: `${path}/latest-proof` }
    : { path: `${path}/absence-proof`, stream: OF_SUBJECT[absence] };
}

/** Returns the request of the log proof of a version. @throws UsageError without a subject */
async function logPathOf(
  { tenant }: Caller,
  named: { subject: SubjectName; version: number | null } | undefined,
): Promise<Asked> {
  if (named === undefined) throw new UsageError('Name the SUBJECT, or a proof with --absence or --state.');
  const { subject, version } = named;
  const one = tenant.subject(subject.type, subject.id);
  const { snapshot_id } = version === null ? await one.latest() : await one.version(version);
  return { path: fillPath('/v1/tenants/{tenant_id}/snapshots/{snapshot_id}/log-proof', { snapshot_id }) };
}
