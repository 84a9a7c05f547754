import { type FormEvent, useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { JsonObject } from '@iss/domain/pure';
import { type api, ErasedError, type ErasureReceipt, type IdentityState } from '@identity-state/client';
import { SUBJECT_VIEW } from '../../app/address.ts';
import { useClient } from '../../app/context.tsx';
import type { TrustedKeys } from '../../entities/trusted-keys.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Problem, Section } from '../../ui/page.tsx';
import { ErasedNotice } from '../subject/erased.tsx';
import { VerificationOutcome } from '../verify/outcome.tsx';
import { useVerification } from '../verify/verification.ts';
import ui from '../../ui/ui.module.css';
import { TEXT } from './words.ts';
import styles from './log.module.css';

const SNAPSHOT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const INDEX = /^(0|[1-9][0-9]{0,15})$/;
const WAIT_S = '10';
const SNAPSHOT = '/v1/tenants/{tenant_id}/snapshots/{snapshot_id}';

type Fact = api.ChangePage['items'][number];

/** The proof that was requested, and the snapshot that it is about. */
interface Found {
  /** Null for an erased version until its erasure is in the log. */
  readonly proof: object | null;
  readonly expected: JsonObject;
  /** The receipt of an erased version. The proof is then that of its erasure. */
  readonly receipt: ErasureReceipt | null;
  readonly snapshot: { readonly subjectType: string; readonly subjectId: string; readonly version: number } | null;
}

/** Verifies an entry of the log by its index, or by the id of its snapshot. */
export function EntryCheck({ tenantId, keys }: { tenantId: string; keys: TrustedKeys | null }) {
  const client = useClient();
  const { verification, begin, stop } = useVerification(keys);
  const [what, setWhat] = useState('');
  const [fault, setFault] = useState<string | undefined>();
  const [error, setError] = useState<Error | null>(null);
  const [found, setFound] = useState<Found | null>(null);
  const [isPending, setPending] = useState(false);
  const find = async (named: string): Promise<void> => {
    setPending(true);
    setError(null);
    setFound(null);
    try {
      const answer = INDEX.test(named)
        ? await byIndex(client, tenantId, Number(named))
        : await bySnapshot(client, tenantId, named);
      setFound(answer);
      if (answer.proof === null) return stop();
      const blob = new Blob([JSON.stringify(answer.proof)]);
      begin({ name: TEXT.proofName(named), blob, entry: null, expected: answer.expected });
    } catch (problem) {
      setError(problem instanceof Error ? problem : new Error(String(problem)));
    } finally {
      setPending(false);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const named = what.trim();
    const isKnown = SNAPSHOT_ID.test(named) || INDEX.test(named);
    setFault(isKnown ? undefined : TEXT.neither);
    if (isKnown && keys !== null) void find(named);
  };
  return (
    <Section title={TEXT.check}>
      <p>{TEXT.checkText}</p>
      <form className={styles.check} onSubmit={submit}>
        <TextField
          label={TEXT.what}
          placeholder={TEXT.whatHint}
          fault={fault}
          required
          value={what}
          onChange={(event) => {
            setWhat(event.target.value);
            stop();
          }}
        />
        <Button type="submit" kind="primary" isPending={isPending || keys === null}>
          {TEXT.verify}
        </Button>
      </form>
      {error !== null && <Problem error={error} />}
      {error === null && (verification !== null || found !== null) && (
        <div className={ui.page}>
          {found?.receipt && <ErasedNotice receipt={found.receipt} />}
          {found?.proof === null && <p>{TEXT.erasureNotLogged}</p>}
          {verification !== null && <VerificationOutcome verification={verification} />}
          {found?.snapshot && (
            <Link
              to={`${SUBJECT_VIEW}/proof`}
              params={{ tenantId, subjectType: found.snapshot.subjectType, subjectId: found.snapshot.subjectId }}
              search={{ version: String(found.snapshot.version) }}
            >
              {TEXT.openProof}
            </Link>
          )}
        </div>
      )}
    </Section>
  );
}

async function bySnapshot(client: IdentityState, tenantId: string, snapshotId: string): Promise<Found> {
  const path = { tenant_id: tenantId, snapshot_id: snapshotId };
  const { proof, receipt } = await proofOrErasure(client, path);
  const header = await client.request('GET', SNAPSHOT, { path, query: { view: 'header' } });
  const { subject, snapshot_version: version } = header;
  return {
    ...{ proof, receipt },
    expected:
      receipt === null
        ? { type: 'snapshot.created', snapshot_id: snapshotId.toLowerCase(), snapshot_version: version, ...subject }
        : { type: 'subject.erased', ...subject },
    snapshot: { subjectType: subject.subject_type, subjectId: subject.subject_id, version },
  };
}

/** Reads the proof of a version. For an erased version, returns its receipt and the proof of its erasure. */
async function proofOrErasure(
  client: IdentityState,
  path: { readonly tenant_id: string; readonly snapshot_id: string },
): Promise<Pick<Found, 'proof' | 'receipt'>> {
  try {
    return {
      proof: await client.request('GET', `${SNAPSHOT}/log-proof`, { path, query: { wait: WAIT_S } }),
      receipt: null,
    };
  } catch (error) {
    if (!(error instanceof ErasedError) || error.receipt === null) throw error;
    const { receipt } = error;
    const erasure = receipt.proof?.['erasure'];
    return { proof: typeof erasure === 'object' ? erasure : null, receipt };
  }
}

/** Finds an entry in the change feed, which only contains entries that concern the tenant. */
async function byIndex(client: IdentityState, tenantId: string, index: number): Promise<Found> {
  const query = { ...(index === 0 ? {} : { after: String(index - 1) }), limit: 1 };
  const path = { tenant_id: tenantId };
  const page = await client.request('GET', '/v1/tenants/{tenant_id}/changes', { path, query });
  const [fact] = page.items;
  if (fact === undefined || fact.log_index !== index) throw new Error(TEXT.notYours(index));
  if (fact.type === 'snapshot.created') return bySnapshot(client, tenantId, fact.snapshot_id);
  if (fact.type === 'subject.erased') {
    // The receipt of each version that it erased has its proof.
    const [version] = fact.erased_indexes;
    if (version === undefined || version >= index) throw new Error(TEXT.notYours(index));
    return byIndex(client, tenantId, version);
  }
  const proof = await proofOf(client, fact, path);
  // Only the newest change of a grant has a proof.
  if (proof.log_index !== index) throw new Error(TEXT.notYours(index));
  return { proof, expected: { type: fact.type, tenant_id: fact.tenant_id }, receipt: null, snapshot: null };
}

const GRANT_FACTS = { 'grant.created': 'created', 'grant.changed': 'changed', 'grant.revoked': 'revoked' } as const;

async function proofOf(
  client: IdentityState,
  fact: Exclude<Fact, { type: 'snapshot.created' | 'subject.erased' }>,
  tenant: { readonly tenant_id: string },
): Promise<api.LogProof> {
  switch (fact.type) {
    case 'grant.created':
    case 'grant.changed':
    case 'grant.revoked':
      return client.request('GET', '/v1/tenants/{tenant_id}/grants/{grant_id}/log-proof', {
        path: { ...tenant, grant_id: fact.grant_id },
        query: { wait: WAIT_S, fact: GRANT_FACTS[fact.type] },
      });
    case 'tenant.owner_changed':
      return client.request('GET', '/v1/tenants/{tenant_id}/owner-history/{log_index}/log-proof', {
        path: { ...tenant, log_index: fact.log_index },
        query: { wait: WAIT_S },
      });
  }
}
