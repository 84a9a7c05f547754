import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execFileSync } from 'node:child_process';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { type OwnedProcess, reservePort } from '../../processes.ts';
import { waitFor } from '../../testing/wait-for.ts';
import type { Trial } from './trial.ts';

const BUCKET = 'trial';
/** The login of the filter `tempauth`, in the variables of S3. */
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'trial:archiver', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
const SERVERS = ['account', 'container', 'object'] as const;

/** OpenStack Swift with its S3 interface and one copy of each object. */
export class TrialSwift {
  private proxy: OwnedProcess | null = null;

  private readonly trial: Trial;
  private readonly port: number;

  private constructor(trial: Trial, port: number) {
    this.trial = trial;
    this.port = port;
  }

  /** Starts the servers, and makes a bucket. */
  static async start(trial: Trial): Promise<TrialSwift> {
    const [etc, devices] = [trial.path('swift'), trial.path('devices')];
    mkdirSync(`${devices}/d1`, { recursive: true });
    mkdirSync(etc);
    for (const server of SERVERS) {
      const port = await reservePort();
      const ring = (...words: string[]): void => {
        execFileSync('swift-ring-builder', [`${server}.builder`, ...words], { cwd: etc, stdio: 'ignore' });
      };
      ring('create', '4', '1', '0');
      ring(
        'add',
        '--region',
        '1',
        '--zone',
        '1',
        '--ip',
        '127.0.0.1',
        '--port',
        `${port}`,
        '--device',
        'd1',
        '--weight',
        '1',
      );
      ring('rebalance');
      const file = `${etc}/${server}-server.conf`;
      writeFileSync(
        file,
        `[DEFAULT]\ndevices = ${devices}\nmount_check = false\nbind_ip = 127.0.0.1\nbind_port = ${port}\nworkers = 0\nuser = root\nswift_dir = ${etc}
[pipeline:main]\npipeline = ${server}-server\n[app:${server}-server]\nuse = egg:swift#${server}\n`,
      );
      await trial.run(`swift-${server}`, `swift-${server}-server`, [file]);
    }
    const [port, cache] = [await reservePort(), await reservePort()];
    await trial.run('memcached', 'memcached', ['-u', 'nobody', '-l', '127.0.0.1', '-p', `${cache}`]);
    writeFileSync(
      `${etc}/proxy-server.conf`,
      `[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = ${port}\nworkers = 0\nuser = root\nswift_dir = ${etc}
[pipeline:main]\npipeline = catch_errors cache listing_formats s3api tempauth copy container_quotas proxy-server
[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n[filter:catch_errors]\nuse = egg:swift#catch_errors
[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:${cache}\n[filter:listing_formats]\nuse = egg:swift#listing_formats
[filter:copy]\nuse = egg:swift#copy\n[filter:container_quotas]\nuse = egg:swift#container_quotas\n[filter:s3api]\nuse = egg:swift#s3api\nlocation = us-east-1
[filter:tempauth]\nuse = egg:swift#tempauth\nuser_trial_archiver = secret .admin\n`,
    );
    const swift = new TrialSwift(trial, port);
    await swift.startProxy();
    const client = new S3Client({
      endpoint: swift.environment.AWS_ENDPOINT_URL_S3,
      region: CREDENTIALS.AWS_REGION,
      forcePathStyle: true,
      credentials: { accessKeyId: CREDENTIALS.AWS_ACCESS_KEY_ID, secretAccessKey: CREDENTIALS.AWS_SECRET_ACCESS_KEY },
    });
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
    client.destroy();
    return swift;
  }

  /** The variables of all processes. */
  get environment() {
    const endpoint = `http://127.0.0.1:${this.port}`;
    return { ARCHIVE_URL: `s3://${BUCKET}/archive`, AWS_ENDPOINT_URL_S3: endpoint, ...CREDENTIALS };
  }

  async startProxy(): Promise<void> {
    const file = this.trial.path('swift', 'proxy-server.conf');
    this.proxy = await this.trial.run('swift-proxy', 'swift-proxy-server', [file]);
    await waitFor(
      () =>
        fetch(`http://127.0.0.1:${this.port}/info`).then(
          ({ ok }) => ok,
          () => false,
        ),
      {
        deadlineMs: 60_000,
        what: 'Swift to answer',
      },
    );
  }

  async stopProxy(): Promise<void> {
    await this.proxy?.stop(1_000);
  }

  /** Lets the proxy hang: it accepts connections and answers nothing. */
  async hang(milliseconds: number): Promise<void> {
    const { pid } = this.proxy ?? {};
    if (pid === undefined) throw new Error('the proxy does not run');
    // The process is the leader of its group.
    process.kill(-pid, 'SIGSTOP');
    await pause(milliseconds);
    process.kill(-pid, 'SIGCONT');
  }

  /** Lets the proxy answer slowly: it runs for a tenth of this time only. */
  async slow(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      await this.hang(450);
      await pause(50);
    }
  }

  /** Fills the bucket, so that it takes no more objects, or makes space again. Swift may need a while after it has hung. */
  async fill(isFull: boolean): Promise<void> {
    const host = `http://127.0.0.1:${this.port}`;
    const login = { 'x-auth-user': CREDENTIALS.AWS_ACCESS_KEY_ID, 'x-auth-key': CREDENTIALS.AWS_SECRET_ACCESS_KEY };
    const limit = async (): Promise<boolean> => {
      const { headers } = await fetch(`${host}/auth/v1.0`, { headers: login });
      const [url, token] = [headers.get('x-storage-url'), headers.get('x-auth-token')];
      if (url === null || token === null) return false;
      const quota = { 'x-auth-token': token, 'x-container-meta-quota-bytes': isFull ? '1' : '' };
      return (await fetch(`${url}/${BUCKET}`, { method: 'POST', headers: quota })).ok;
    };
    await waitFor(limit, { deadlineMs: 180_000, what: 'Swift to change the limit of the bucket' });
  }

  /** Changes bytes of a stored object. Returns a function that restores them. */
  damage(file: string): () => void {
    const before = readFileSync(file);
    const after = Buffer.from(before);
    for (let at = 8; at < after.length; at += 97) after.writeUInt8(after.readUInt8(at) ^ 1, at);
    writeFileSync(file, after, { flag: 'r+' });
    return () => {
      // Swift moves an object with wrong bytes away when it notices them. The folder has the attributes of the object too.
      const folder = dirname(file);
      const quarantine = join(this.trial.path('devices/d1/quarantined/objects'), basename(folder));
      if (!existsSync(file)) renameSync(quarantine, folder);
      writeFileSync(file, before, { flag: 'r+' });
    };
  }
}
