import { Page } from '../../ui/page.tsx';

export function VerifyView() {
  return <Page title="VerifyView">{null}</Page>;
}
