import type { NewestLogged, SubjectRef } from '@iss/domain';
import { versionStream } from '@iss/map';
import { Injectable } from '@nestjs/common';
import { LogTreeService } from '../../../log/log-tree.service';
import { PublishedMap } from '../../../log/map/published-map';
import type { Asker } from '../../../runtime/asker';

/** Looks up newest versions in the map of the published log. */
@Injectable()
export class NewestVersions {
  constructor(
    private readonly tree: LogTreeService,
    private readonly map: PublishedMap,
  ) {}

  /**
   * Returns the newest logged version of a subject. `guess` saves look-ups if it is right. Throws `not_found` if the log has no map,
   * and `not_logged_yet` before the map is published.
   */
  async of(asker: Asker, { subjectType, subjectId }: SubjectRef, guess: number): Promise<NewestLogged> {
    await this.map.require();
    const checkpoint = await this.tree.requireCheckpoint();
    const stream = versionStream(subjectType, subjectId);
    const { number, logIndex } = await this.map.newest(asker, checkpoint, { stream, guess });
    return { newest_version: number, as_of_size: checkpoint.size, log_index: logIndex };
  }
}
