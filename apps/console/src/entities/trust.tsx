import { type FormEvent, useEffect, useState } from 'react';
import { readPolicy } from '@iss/proof';
import { type Policy, quorumSize } from '@iss/tlog';
import { Button } from '../ui/button.tsx';
import { TextArea } from '../ui/field.tsx';
import { Badge, Notice, Section } from '../ui/page.tsx';
import styles from '../ui/ui.module.css';
import { type TrustedKeys, useOwnPolicy, useTrustedKeys } from './trusted-keys.ts';
import { TEXT } from './words.ts';

/** Shows the trusted keys, and lets the reader change them. */
export function TrustPanel() {
  const { keys, hasMap } = useTrustedKeys();
  const [own, keep] = useOwnPolicy();
  const [isEdited, setEdited] = useState(false);
  return (
    <Section
      title={TEXT.trust}
      actions={
        !isEdited && (
          <>
            <Button small onClick={() => setEdited(true)}>
              {own === null ? TEXT.usePolicy : TEXT.changePolicy}
            </Button>
            {own !== null && (
              <Button small onClick={() => keep(null)}>
                {TEXT.forget}
              </Button>
            )}
          </>
        )
      }
    >
      {isEdited ? <OwnPolicy onEnd={() => setEdited(false)} /> : <Keys keys={keys} hasMap={hasMap} />}
    </Section>
  );
}

/** Shows the trusted keys. */
export function TrustedBy() {
  const { keys, hasMap } = useTrustedKeys();
  return <Keys keys={keys} hasMap={hasMap} />;
}

function Keys({ keys, hasMap }: { keys: TrustedKeys | null; hasMap: boolean }) {
  const policy = usePolicy(keys?.text ?? null);
  if (keys === null) return <Notice tone="warn">{TEXT.noKeysText}</Notice>;
  const isOwn = keys.whose === 'own';
  return (
    <>
      <p>
        <Badge tone={isOwn ? 'good' : 'warn'}>{isOwn ? TEXT.own : TEXT.ofService}</Badge>{' '}
        {isOwn ? TEXT.ownText : TEXT.ofServiceText}
      </p>
      {policy !== null && (
        <p className={styles.hint}>
          {TEXT.logs([...new Set(policy.logs.map(({ key }) => key.name))])}.{' '}
          {TEXT.witnesses(
            policy.witnesses.map(({ key }) => key.name),
            TEXT.quorum(quorumSize(policy)),
          )}{' '}
          {hasMap && (policy.vrfKey === null ? TEXT.noVrfKey : TEXT.vrfKey[keys.whose](policy.vrfKey))}
        </p>
      )}
    </>
  );
}

function OwnPolicy({ onEnd }: { onEnd: () => void }) {
  const [own, keep] = useOwnPolicy();
  const [text, setText] = useState(own ?? '');
  const [fault, setFault] = useState<string | undefined>();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    readPolicy(text).then(
      () => {
        keep(text);
        onEnd();
      },
      (error: unknown) => setFault(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextArea
        label={TEXT.policyLabel}
        hint={TEXT.policyHint}
        fault={fault}
        value={text}
        rows={6}
        required
        autoFocus
        onChange={(event) => setText(event.target.value)}
      />
      <div className={styles.actions}>
        <Button type="submit" kind="primary">
          {TEXT.save}
        </Button>
        <Button onClick={onEnd}>{TEXT.cancel}</Button>
      </div>
    </form>
  );
}

/** Parses a policy. Returns null until then, and for an invalid policy. */
function usePolicy(text: string | null): Policy | null {
  const [policy, setPolicy] = useState<Policy | null>(null);
  useEffect(() => {
    if (text === null) return;
    let isWanted = true;
    readPolicy(text).then(
      (read) => isWanted && setPolicy(read),
      () => isWanted && setPolicy(null),
    );
    return () => {
      isWanted = false;
    };
  }, [text]);
  return policy;
}
