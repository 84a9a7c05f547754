import { type FormEvent, useState } from 'react';
import type { api } from '@identity-state/client';
import { tenantPath, useAction } from '../../app/api.ts';
import { TEXT } from './words.ts';
import { TEXT as UI } from '../../text/ui.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../../ui/curl.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import ui from '../../ui/ui.module.css';
import { ScopeFields, UntilField } from './grant-fields.tsx';
import { type Grant, instantOf, isOnAll, localOf, namesOf, type Scope } from './grants.ts';
import { LogProofDialog } from './log-proof.tsx';
import styles from './sharing.module.css';

interface GrantDialogProps {
  tenantId: string;
  grant: Grant;
  /** The paths whose queries are reloaded. */
  changes: readonly string[];
  onClose: () => void;
}

/** Narrows or extends a grant. Sends only the changed members. */
export function ChangeGrant({ tenantId, grant, changes, onClose }: GrantDialogProps) {
  const words = TEXT.patch;
  const path = tenantPath(tenantId, 'grants', grant.grant_id);
  const action = useAction<Grant>(...changes);
  const [scopes, setScopes] = useState<readonly Scope[]>(grant.scopes);
  const [until, setUntil] = useState(localOf(grant.expires_at));
  const [purpose, setPurpose] = useState(grant.purpose ?? '');
  const [reason, setReason] = useState('');
  const taken = grant.scopes.filter((scope) => !scopes.includes(scope));
  const added = scopes.filter((scope) => !grant.scopes.includes(scope));
  const body: api.ChangeGrantBody = {
    ...(taken.length + added.length === 0 ? {} : { scopes: [...scopes] }),
    ...(until === localOf(grant.expires_at) ? {} : { expires_at: instantOf(until) }),
    ...(purpose.trim() === (grant.purpose ?? '') ? {} : { purpose: purpose.trim() === '' ? null : purpose.trim() }),
  };
  const isChanged = Object.keys(body).length > 0;
  const isPast = body.expires_at !== undefined && until !== '' && Date.parse(body.expires_at ?? '') <= Date.now();
  const call = {
    method: 'PATCH',
    path,
    body: { ...body, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) },
  } as const;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isChanged && !isPast && scopes.length > 0) action.mutate(call, { onSuccess: onClose });
  };
  return (
    <Dialog title={words.title(grant.grantee_tenant_id)} isOpen onClose={onClose}>
      <p>{words.note}</p>
      <form className={ui.form} onSubmit={submit}>
        <ScopeFields value={scopes} onChange={setScopes} />
        <UntilField value={until} onChange={setUntil} fault={isPast ? TEXT.make.past : undefined} />
        <TextField
          label={TEXT.make.purpose}
          maxLength={500}
          value={purpose}
          onChange={(event) => setPurpose(event.target.value)}
        />
        <TextField
          label={words.reason}
          hint={words.reasonHint}
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <p className={styles.quiet} role="status">
          {!isChanged && words.nothing} {taken.length > 0 && words.narrower(namesOf(taken))}{' '}
          {added.length > 0 && words.wider(namesOf(added))}
        </p>
        {action.error !== null && <Problem error={action.error} />}
        <div className={ui.dialogFoot}>
          {isChanged && <CopyCurl call={call} />}
          <Button onClick={onClose}>{UI.cancel}</Button>
          <Button
            type="submit"
            kind="primary"
            isPending={action.isPending}
            disabled={!isChanged || isPast || scopes.length === 0}
          >
            {words.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function RevokeGrant({ tenantId, grant, changes, onClose }: GrantDialogProps) {
  const words = TEXT.revoking;
  const action = useAction<Grant>(...changes);
  const path = `${tenantPath(tenantId, 'grants', grant.grant_id)}/revoke`;
  const what = isOnAll(grant) ? TEXT.allSubjects.toLowerCase() : grant.subject_id;
  return (
    <Confirm
      title={words.title(grant.grantee_tenant_id)}
      confirm={words.confirm}
      isOpen
      isPending={action.isPending}
      error={action.error}
      onConfirm={() => action.mutate({ method: 'POST', path }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{words.text(what, grant.grantee_tenant_id)}</p>
    </Confirm>
  );
}

type Fact = keyof typeof TEXT.proving.facts;

function isFact(text: string): text is Fact {
  return Object.hasOwn(TEXT.proving.facts, text);
}

/** Shows the log's proof of a grant's creation, change or revocation. */
export function GrantProof({ tenantId, grant, onClose }: Omit<GrantDialogProps, 'changes'>) {
  const words = TEXT.proving;
  const [fact, setFact] = useState<Fact>(grant.status === 'revoked' ? 'revoked' : 'created');
  const facts: readonly Fact[] =
    grant.status === 'revoked' ? ['created', 'changed', 'revoked'] : ['created', 'changed'];
  return (
    <LogProofDialog
      tenantId={tenantId}
      path={`${tenantPath(tenantId, 'grants', grant.grant_id)}/log-proof`}
      query={{ fact }}
      expected={{ type: `grant.${fact}`, grant_id: grant.grant_id }}
      onClose={onClose}
    >
      <Select
        label={words.fact}
        value={fact}
        options={facts.map((value) => ({ value, label: words.facts[value] }))}
        onChange={(event) => isFact(event.target.value) && setFact(event.target.value)}
      />
    </LogProofDialog>
  );
}
