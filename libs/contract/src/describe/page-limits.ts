/** The limits of a deployment that restrict pages. */
export interface PageCaps {
  historyPage: number;
  chainProofPage: number;
}

export interface PageLimits {
  default: number;
  /** A larger `limit` is refused, never clamped. */
  max: number | ((caps: PageCaps) => number);
}

/** The items of a page of every list, except those in {@link SPECIFIED_LISTS}. */
export const LIST_LIMITS = { default: 50, max: 1_000 } as const satisfies PageLimits;

/** Lists whose page limits the specification or the contract fixes. A comment at each names the document and its heading. */
export const SPECIFIED_LISTS = {
  // Specification, Limits
  tenantSnapshots: {
    default: 20,
    max: ({ historyPage }) => Math.min(100, historyPage),
  },
  // Specification, Limits
  history: {
    default: 50,
    max: ({ historyPage }) => historyPage,
  },
  // Specification, Limits
  chainProof: {
    default: 50,
    max: ({ chainProofPage }) => chainProofPage,
  },
  // Contract, Tenant chain proof without `limit`
  tenantChainProof: {
    default: 200,
    max: ({ chainProofPage }) => chainProofPage,
  },
  // Specification, Grants
  grants: { default: 50, max: 100 },
  // Specification, Grants
  accessibleSubjects: {
    default: 50,
    max: 200,
  },
  // Specification, Refresh requests
  refreshRequests: {
    default: 50,
    max: 200,
  },
  // Specification, Endpoints: the list has no parameters, so one answer has all subjects of most tenants
  tenantSubjects: {
    default: 1_000,
    max: 1_000,
  },
} as const satisfies Readonly<Record<string, PageLimits>>;

/** Returns the page limits in a deployment. */
export function pageBounds({ default: preferred, max }: PageLimits, caps: PageCaps): { default: number; max: number } {
  const bound = typeof max === 'number' ? max : max(caps);
  return { default: Math.min(preferred, bound), max: bound };
}
