/**
 * Charges work in other threads to the rate limit of its caller: one request for each started millisecond of processor
 * time after the first.
 */
export abstract class Charge {
  abstract charge(principalId: string, requests: number): void;
}
