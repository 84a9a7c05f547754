import { Page } from '../../ui/page.tsx';

export function SubjectSharingView() {
  return <Page title="SubjectSharingView">{null}</Page>;
}
