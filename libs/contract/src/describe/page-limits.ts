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

/** A list whose page limits are fixed elsewhere. */
interface SpecifiedList extends PageLimits {
  /** The document and its heading. */
  source: string;
}

/** Lists whose page limits the specification or the contract fixes. */
export const SPECIFIED_LISTS = {
  tenantSnapshots: {
    default: 20,
    max: ({ historyPage }) => Math.min(100, historyPage),
    source: 'specification, Limits',
  },
  history: {
    default: 50,
    max: ({ historyPage }) => historyPage,
    source: 'specification, Limits',
  },
  chainProof: {
    default: 50,
    max: ({ chainProofPage }) => chainProofPage,
    source: 'specification, Limits',
  },
  tenantChainProof: {
    default: 200,
    max: ({ chainProofPage }) => chainProofPage,
    source: 'contract, Tenant chain proof without `limit`',
  },
  grants: { default: 50, max: 100, source: 'specification, Grants' },
  accessibleSubjects: {
    default: 50,
    max: 200,
    source: 'specification, Grants',
  },
  refreshRequests: {
    default: 50,
    max: 200,
    source: 'specification, Refresh requests',
  },
  tenantSubjects: {
    default: 50,
    max: 200,
    source: 'contract, `GET …/subjects` (tenant)',
  },
} as const satisfies Readonly<Record<string, SpecifiedList>>;

/** Returns the page limits in a deployment. */
export function pageBounds({ default: preferred, max }: PageLimits, caps: PageCaps): { default: number; max: number } {
  const bound = typeof max === 'number' ? max : max(caps);
  return { default: Math.min(preferred, bound), max: bound };
}
