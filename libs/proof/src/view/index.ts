export { readPartialSnapshot, readViewProof, verifyPartialProof } from './partial-proof';
export {
  type DisclosedView,
  type PartialSnapshot,
  requireLoggedView,
  requirePartialContent,
  type ShownView,
  verifyPartialView,
} from './view';
