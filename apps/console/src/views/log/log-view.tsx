import { Page } from '../../ui/page.tsx';

export function LogView() {
  return <Page title="LogView">{null}</Page>;
}
