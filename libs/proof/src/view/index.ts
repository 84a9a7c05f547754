export { readPartialSnapshot, readViewProof, verifyPartialProof } from './partial-proof';
export {
  type DisclosedView,
  isPartial,
  type PartialSnapshot,
  requireLoggedView,
  requirePartialContent,
  type ShownView,
  verifyPartialView,
} from './view';
