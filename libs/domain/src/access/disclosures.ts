/**
 * The ways in which a tenant that does not own a version can be shown it. Without content, it sees only that the
 * version exists, and its hashes.
 */
export const DISCLOSURE_WAYS = {
  summary: { showsContent: true },
  snapshot: { showsContent: true },
  diff: { showsContent: true },
  provenance: { showsContent: true },
  history: { showsContent: true },
  export: { showsContent: true },
  bundle: { showsContent: true },
  headers: { showsContent: false },
  proof: { showsContent: false },
  search: { showsContent: true },
  credential: { showsContent: true },
  name: { showsContent: true },
} as const satisfies Record<string, { showsContent: boolean }>;
export type DisclosureWay = keyof typeof DISCLOSURE_WAYS;
export const DISCLOSURE_WAY_NAMES = Object.keys(DISCLOSURE_WAYS).filter(
  (name): name is DisclosureWay => name in DISCLOSURE_WAYS,
);
