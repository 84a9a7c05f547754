import { useState } from 'react';
import type { api } from '@identity-state/client';
import { apiCall, tenantPath, useAction } from '../../app/api.ts';
import { type Grant, namesOf, type Scope } from '../../entities/grant.tsx';
import { useTrustedKeys } from '../../entities/trusted-keys.ts';
import { FormDialog, instantOf, isPast, localOf, useForm } from '../../forms/form.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import type { ProvenFact } from '../verify/fact-proof.tsx';
import ui from '../../ui/ui.module.css';
import { LogProofDialog } from './log-proof.tsx';
import { ScopeFields, UntilField } from './make/grant-fields.tsx';
import { TEXT } from './words.ts';

export const OF_GRANT = '/v1/tenants/{tenant_id}/grants/{grant_id}';

interface GrantDialogProps {
  tenantId: string;
  grant: Grant;
  onClose: () => void;
}

/** Narrows or extends a grant. Sends only the changed members. */
export function ChangeGrant({ tenantId, grant, onClose }: GrantDialogProps) {
  const words = TEXT.patch;
  const start: { scopes: readonly Scope[]; until: string; purpose: string; reason: string } = {
    scopes: grant.scopes,
    until: localOf(grant.expires_at),
    purpose: grant.purpose ?? '',
    reason: '',
  };
  const form = useForm({
    start,
    action: useAction<Grant>(tenantPath(tenantId)),
    callOf: ({ scopes, until, purpose, reason }) => {
      const body: api.ChangeGrantBody = {
        ...(hasSame(scopes, grant.scopes) ? {} : { scopes: [...scopes] }),
        ...(until === localOf(grant.expires_at) ? {} : { expires_at: instantOf(until) }),
        ...(purpose.trim() === (grant.purpose ?? '') ? {} : { purpose: purpose.trim() === '' ? null : purpose.trim() }),
      };
      const isWrong = scopes.length === 0 || (body.expires_at !== undefined && isPast(until));
      if (isWrong || Object.keys(body).length === 0) return null;
      return apiCall('PATCH', OF_GRANT, {
        path: { tenant_id: tenantId, grant_id: grant.grant_id },
        body: { ...body, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) },
      });
    },
    onDone: onClose,
  });
  const { scopes, until, purpose } = form.values;
  const taken = grant.scopes.filter((scope) => !scopes.includes(scope));
  const added = scopes.filter((scope) => !grant.scopes.includes(scope));
  const isEndChanged = until !== localOf(grant.expires_at);
  const isChanged = taken.length + added.length > 0 || isEndChanged || purpose.trim() !== (grant.purpose ?? '');
  return (
    <FormDialog
      title={words.title(grant.grantee_tenant_id)}
      note={words.note}
      form={form}
      submit={words.submit}
      onClose={onClose}
    >
      <ScopeFields value={scopes} onChange={(value) => form.set({ scopes: value })} />
      <UntilField
        value={until}
        onChange={(value) => form.set({ until: value })}
        fault={isEndChanged && isPast(until) ? TEXT.make.past : undefined}
      />
      <TextField label={TEXT.make.purpose} maxLength={500} {...form.text('purpose')} />
      <TextField label={words.reason} hint={words.reasonHint} maxLength={500} {...form.text('reason')} />
      <p className={ui.quiet} role="status">
        {!isChanged && words.nothing} {taken.length > 0 && words.narrower(namesOf(taken))}{' '}
        {added.length > 0 && words.wider(namesOf(added))}
      </p>
    </FormDialog>
  );
}

function hasSame(one: readonly Scope[], other: readonly Scope[]): boolean {
  return one.length === other.length && one.every((scope) => other.includes(scope));
}

type Fact = keyof typeof TEXT.proving.facts;

function isFact(text: string): text is Fact {
  return Object.hasOwn(TEXT.proving.facts, text);
}

/** Shows the log's proof of a grant's current state, creation, change or revocation. */
export function GrantProof({ tenantId, grant, onClose }: GrantDialogProps) {
  const words = TEXT.proving;
  const { hasMap } = useTrustedKeys();
  const [chosen, choose] = useState<Fact | null>(null);
  const isRevoked = grant.status === 'revoked';
  const fact = chosen ?? (hasMap ? 'state' : isRevoked ? 'revoked' : 'created');
  const facts: readonly Fact[] = [
    ...(hasMap ? (['state'] as const) : []),
    ...(['created', 'changed'] as const),
    ...(isRevoked ? (['revoked'] as const) : []),
  ];
  const path = { tenant_id: tenantId, grant_id: grant.grant_id };
  const proof: ProvenFact<object> =
    fact === 'state'
      ? { call: apiCall('GET', `${OF_GRANT}/state-proof`, { path }), expected: { grant_id: grant.grant_id } }
      : {
          call: apiCall('GET', `${OF_GRANT}/log-proof`, { path, query: { fact } }),
          expected: { type: `grant.${fact}`, ...path },
        };
  return (
    <LogProofDialog tenantId={tenantId} {...proof} onClose={onClose}>
      <Select
        label={words.fact}
        value={fact}
        options={facts.map((value) => ({ value, label: words.facts[value] }))}
        onChange={(event) => isFact(event.target.value) && choose(event.target.value)}
      />
    </LogProofDialog>
  );
}
