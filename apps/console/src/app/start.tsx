import { type FormEvent, useEffect, useState } from 'react';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { TEXT } from '../text/app.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import icon from '../ui/icon.svg';
import { useTitle } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';
import { Answer, Empty } from '../ui/state.tsx';
import ui from '../ui/ui.module.css';
import { useAction, useTenants } from './api.ts';
import { useSession, useSessionState } from './context.tsx';
import { BASE } from './settings.ts';
import styles from './shell.module.css';

/** What only those see who are signed in. A sign-in that expired leaves the page as it is. */
export function SignedIn() {
  const state = useSessionState();
  return state === 'signed_out' ? <Welcome /> : <Outlet />;
}

function Welcome() {
  const session = useSession();
  const address = useRouterState({ select: ({ location }) => BASE + location.href });
  const [error, setError] = useState<Error | null>(null);
  useTitle(TEXT.signIn);
  return (
    <div className={styles.center}>
      <div className={styles.welcome}>
        <img src={icon} alt="" />
        <h1>{TEXT.signedOutTitle}</h1>
        <p>{TEXT.signedOutText}</p>
        {error !== null && <Problem error={error} />}
        <Button kind="primary" onClick={() => void session.signIn(address).catch(setError)}>
          {TEXT.signIn}
        </Button>
        <Link to="/verify">{TEXT.verifyWithout}</Link>
      </div>
    </div>
  );
}

/** Leads to the first of the caller's tenants. */
export function Start() {
  const tenants = useTenants();
  const navigate = useNavigate();
  const first = tenants.items[0]?.tenant_id;
  useEffect(() => {
    if (first !== undefined) void navigate({ to: '/t/$tenantId/subjects', params: { tenantId: first }, replace: true });
  }, [first, navigate]);
  return <Answer query={tenants}>{() => (first === undefined ? <FirstTenant /> : null)}</Answer>;
}

function FirstTenant() {
  const create = useAction('/v1/tenants');
  const navigate = useNavigate();
  const [tenantId, setTenantId] = useState('');
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(
      { method: 'POST', path: '/v1/tenants', body: { tenant_id: tenantId, name } },
      { onSuccess: () => void navigate({ to: '/t/$tenantId/subjects', params: { tenantId } }) },
    );
  };
  return (
    <Empty title={TEXT.noTenants}>
      <p>{TEXT.noTenantsText}</p>
      <form className={ui.form} onSubmit={submit}>
        <TextField
          label={TEXT.tenantId}
          value={tenantId}
          required
          onChange={(event) => setTenantId(event.target.value)}
        />
        <TextField label={TEXT.tenantName} value={name} required onChange={(event) => setName(event.target.value)} />
        {create.error !== null && <Problem error={create.error} />}
        <Button type="submit" kind="primary" isPending={create.isPending}>
          {TEXT.makeTenant}
        </Button>
      </form>
    </Empty>
  );
}

export function NotFound() {
  useTitle(TEXT.notFound);
  return (
    <Empty title={TEXT.notFound}>
      <p>
        {TEXT.notFoundText} <Link to="/">{TEXT.nav.subjects}</Link>
      </p>
    </Empty>
  );
}

/** What a view throws. */
export function Broken({ error, reset }: { error: unknown; reset: () => void }) {
  const failure = error instanceof Error ? error : new Error(String(error));
  return (
    <Empty title={TEXT.broken}>
      <Problem error={failure} retry={reset} />
    </Empty>
  );
}
