import { Page } from '../../ui/page.tsx';

export function ProofView() {
  return <Page title="ProofView">{null}</Page>;
}
