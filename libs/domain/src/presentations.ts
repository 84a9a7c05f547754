/** The state of a request to a wallet. `refused`: the wallet refused, or the fifth answer was wrong. */
export const PRESENTATION_STATUSES = ['pending', 'received', 'refused', 'expired'] as const;
export type PresentationStatus = (typeof PRESENTATION_STATUSES)[number];

/** How long a wallet may answer a request, in seconds. */
export const PRESENTATION_EXPIRES_IN = { min: 60, max: 3_600, default: 600 } as const;
