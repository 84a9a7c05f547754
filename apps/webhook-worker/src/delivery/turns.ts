export interface TurnTaker {
  readonly founderId: string;
  readonly tenantId: string;
}

/**
 * Decides who is next. Founders take turns, then the tenants of a founder, then the lanes of a tenant. A taken lane is
 * removed. To get another turn, it must be added again, at the end of its tenant's row.
 */
export class LaneTurns<Lane extends TurnTaker> {
  /** The order of insertion is the order of turns. */
  private readonly founders = new Map<string, Map<string, Set<Lane>>>();

  /** Adds a lane. A lane that is already there keeps its place. */
  add(lane: Lane): void {
    const tenants = this.founders.get(lane.founderId) ?? new Map<string, Set<Lane>>();
    const lanes = tenants.get(lane.tenantId) ?? new Set();
    this.founders.set(lane.founderId, tenants.set(lane.tenantId, lanes.add(lane)));
  }

  has(lane: Lane): boolean {
    return this.founders.get(lane.founderId)?.get(lane.tenantId)?.has(lane) === true;
  }

  /** Returns false if the lane was not there. */
  delete(lane: Lane): boolean {
    const tenants = this.founders.get(lane.founderId);
    const lanes = tenants?.get(lane.tenantId);
    if (tenants === undefined || lanes?.delete(lane) !== true) return false;
    if (lanes.size === 0) tenants.delete(lane.tenantId);
    if (tenants.size === 0) this.founders.delete(lane.founderId);
    return true;
  }

  /** Takes the next lane of a founder that may have one. Moves its founder and tenant to the end of their rows. */
  take(isAllowed: (founderId: string) => boolean): Lane | undefined {
    for (const [founderId, tenants] of this.founders) {
      const [first] = tenants;
      const [lane] = first?.[1] ?? [];
      if (first === undefined || lane === undefined || !isAllowed(founderId)) continue;
      const [tenantId, lanes] = first;
      this.delete(lane);
      if (lanes.size > 0) toEnd(tenants, tenantId, lanes);
      if (tenants.size > 0) toEnd(this.founders, founderId, tenants);
      return lane;
    }
    return undefined;
  }
}

function toEnd<Value>(row: Map<string, Value>, key: string, value: Value): void {
  row.delete(key);
  row.set(key, value);
}
