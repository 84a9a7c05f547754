import { ApiError, ErasedError, VerificationError } from '@identity-state/client';
import { TEXT } from '../text/ui.ts';
import { Button } from './button.tsx';
import styles from './ui.module.css';

/** Shows an error, the next step, and the request id for the operator. An erasure is not an error. */
export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  if (error instanceof ErasedError) {
    return (
      <div role="status" className={styles.notice} data-tone="warn">
        {TEXT.erased(error.receipt?.snapshot_version)}
      </div>
    );
  }
  const api = error instanceof ApiError ? error : null;
  return (
    <div role="alert" className={styles.problem} data-problem={api?.code ?? error.name}>
      <p>
        <strong>{error instanceof VerificationError ? TEXT.notVerified : TEXT.failed}</strong> {error.message}
      </p>
      {api !== null && api.details.length > 0 && (
        <ul>
          {api.details.map(({ path, message }, index) => (
            <li key={index}>
              {path !== null && path !== undefined && path !== '' && <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
      {api !== null && (
        <p>
          {api.code !== null && (
            <>
              <a href={`/docs/errors#${api.code}`} target="_blank" rel="noreferrer">
                {TEXT.about(api.code)}
              </a>{' '}
            </>
          )}
          {api.requestId !== null && (
            <>
              {TEXT.requestId} <code>{api.requestId}</code>
            </>
          )}
        </p>
      )}
      {retry !== undefined && (
        <Button small onClick={retry}>
          {TEXT.retry}
        </Button>
      )}
    </div>
  );
}
