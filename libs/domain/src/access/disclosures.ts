/**
 * The ways in which a version is shown to a tenant that does not own it, and whether its content is shown, or only that it
 * exists, and its hashes.
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
} as const satisfies Record<string, { showsContent: boolean }>;
export type DisclosureWay = keyof typeof DISCLOSURE_WAYS;
export const DISCLOSURE_WAY_NAMES = Object.keys(DISCLOSURE_WAYS).filter(
  (name): name is DisclosureWay => name in DISCLOSURE_WAYS,
);
