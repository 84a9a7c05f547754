import { Page } from '../../ui/page.tsx';

export function TenantView() {
  return <Page title="TenantView">{null}</Page>;
}
