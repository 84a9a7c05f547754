import { type FormEvent, useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { JsonObject } from '@iss/domain/pure';
import { type api, type IdentityState } from '@identity-state/client';
import { tenantPath } from '../../app/api.ts';
import { useClient } from '../../app/context.tsx';
import type { TrustedKeys } from '../../entities/trusted-keys.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import ui from '../../ui/ui.module.css';
import styles from './log.module.css';
import { Outcome } from '../verify/outcome.tsx';
import { useVerification } from '../verify/verification.ts';

const SNAPSHOT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const INDEX = /^(0|[1-9][0-9]{0,15})$/;
const WAIT_S = 10;

type Fact = api.ChangePage['items'][number];

/** The proof that was requested, and the snapshot that it is about. */
interface Found {
  readonly proof: api.LogProof;
  readonly expected: JsonObject;
  readonly snapshot: { readonly subjectType: string; readonly subjectId: string; readonly version: number } | null;
}

/** Verifies an entry of the log by its index, or by the id of its snapshot. */
export function Check({ tenantId, keys }: { tenantId: string; keys: TrustedKeys | null }) {
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
      {error === null && verification !== null && (
        <div className={ui.page}>
          <Outcome verification={verification} />
          {found?.snapshot && (
            <Link
              to="/t/$tenantId/subjects/$subjectType/$subjectId/proof"
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
  const path = tenantPath(tenantId, 'snapshots', snapshotId);
  const proof = await client.request<api.LogProof>('GET', `${path}/log-proof`, { query: { wait: WAIT_S } });
  const { subject, snapshot_version: version } = await client.request<api.SnapshotHeader>('GET', path, {
    query: { view: 'header' },
  });
  return {
    proof,
    expected: {
      type: 'snapshot.created',
      snapshot_id: snapshotId.toLowerCase(),
      snapshot_version: version,
      ...subject,
    },
    snapshot: { subjectType: subject.subject_type, subjectId: subject.subject_id, version },
  };
}

/** Finds an entry in the change feed, which only contains entries that concern the tenant. */
async function byIndex(client: IdentityState, tenantId: string, index: number): Promise<Found> {
  const page = await client.request<api.ChangePage>('GET', tenantPath(tenantId, 'changes'), {
    query: { ...(index === 0 ? {} : { after: index - 1 }), limit: 1 },
  });
  const [fact] = page.items;
  if (fact === undefined || fact.log_index !== index) throw new Error(TEXT.notYours(index));
  if (fact.type === 'snapshot.created') return bySnapshot(client, tenantId, fact.snapshot_id);
  const { path, query } = proofOf(fact, tenantId);
  const proof = await client.request<api.LogProof>('GET', path, { query: { wait: WAIT_S, ...query } });
  // Only the newest change of a grant has a proof.
  if (proof.log_index !== index) throw new Error(TEXT.notYours(index));
  return { proof, expected: { type: fact.type, tenant_id: fact.tenant_id }, snapshot: null };
}

function proofOf(
  fact: Exclude<Fact, { type: 'snapshot.created' }>,
  tenantId: string,
): { path: string; query?: { fact: string } } {
  switch (fact.type) {
    case 'grant.created':
    case 'grant.changed':
    case 'grant.revoked':
      return {
        path: tenantPath(tenantId, 'grants', fact.grant_id, 'log-proof'),
        query: { fact: fact.type.replace('grant.', '') },
      };
    case 'tenant.owner_changed':
      return { path: tenantPath(tenantId, 'owner-history', fact.log_index, 'log-proof') };
    case 'subject.erased':
      throw new Error(TEXT.notYours(fact.log_index));
  }
}
