import { Empty } from '../../ui/state.tsx';
import { TEXT } from './words.ts';

/** Shown to members whose flag does not allow counterparty access. */
export function NoGrantsUsed() {
  return (
    <Empty title={TEXT.noGrantsUsed}>
      <p>{TEXT.noGrantsUsedText}</p>
    </Empty>
  );
}
