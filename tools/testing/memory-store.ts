import { ObjectMissing, type ObjectStore } from '@iss/archive';

/** Objects in memory. A test sets `before` to let a call fail, and counts `reads`. */
export class MemoryStore implements ObjectStore {
  readonly objects = new Map<string, Buffer>();
  reads = 0;
  before: (call: 'put' | 'read' | 'remove' | 'ping', name: string) => void | Promise<void> = () => undefined;

  async put(name: string, bytes: Buffer): Promise<void> {
    await this.before('put', name);
    this.objects.set(name, Buffer.from(bytes));
  }

  async read(name: string, offset: number, length: number, signal?: AbortSignal): Promise<Buffer> {
    this.reads += 1;
    await this.before('read', name);
    signal?.throwIfAborted();
    const bytes = this.objects.get(name);
    if (bytes === undefined) throw new ObjectMissing(name);
    // A copy, because a test may damage or mend the object later.
    return Buffer.from(bytes.subarray(offset, offset + length));
  }

  async remove(name: string): Promise<void> {
    await this.before('remove', name);
    this.objects.delete(name);
  }

  async ping(): Promise<void> {
    await this.before('ping', '');
  }

  close(): void {
    this.objects.clear();
  }
}
