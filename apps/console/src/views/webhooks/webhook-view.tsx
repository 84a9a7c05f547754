import { Page } from '../../ui/page.tsx';

export function WebhookView() {
  return <Page title="WebhookView">{null}</Page>;
}
