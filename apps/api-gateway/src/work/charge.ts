/**
 * Is told what work took beside the thread that serves everybody, so that it counts against its caller's rate: one request
 * for each millisecond of processor time begun beyond the first.
 */
export abstract class Charge {
  abstract charge(principalId: string, requests: number): void;
}
