import { type Actor, requireAccess, RULES } from '@iss/domain';
import { type Changes, type ChangesRequest, FeedStore } from '@iss/persistence';
import { Injectable } from '@nestjs/common';

/** What changed of what a tenant owns or may read, for its members. */
@Injectable()
export class ChangeFeedService {
  constructor(private readonly feeds: FeedStore) {}

  /** The next entries of the log that the caller may see at this moment. Throws `forbidden`. */
  async read(actor: Actor, request: ChangesRequest): Promise<Changes> {
    const { facts, changes } = await this.feeds.changes(actor, request);
    requireAccess(facts, RULES.readChanges);
    return changes;
  }
}
