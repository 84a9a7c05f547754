// A gateway loads it before anything else. It replaces the trick that WITHOUT_TRICK names with the plain way.
require('reflect-metadata');
const { join } = require('node:path');

const dist = (project, file) => require(join(__dirname, '../..', project, 'dist', file));
const gateway = (file) => dist('apps/api-gateway', file);
const persistence = (file) => dist('libs/persistence', file);

const WITHOUT = {
  hotLane() {
    gateway('http/fast/hot-lane.js').HotLane.prototype.take = () => false;
  },
  batches() {
    gateway('http/server/request-batches.js').inBatches = (listener) => listener;
  },
  recentAnswers() {
    gateway('modules/identity-state/read/recent-answers.js').RecentAnswers.prototype.answer = async (_key, read, answerOf) =>
      answerOf(await read(undefined));
  },
  knownTokens() {
    const { TokenVerifier } = gateway('auth/token-verifier.js');
    const { verify } = TokenVerifier.prototype;
    TokenVerifier.prototype.verify = function (request) {
      this.verified.get = () => undefined;
      return verify.call(this, request);
    };
  },
  sharedStatements() {
    const { Coalescer } = persistence('sql/coalescer.js');
    Coalescer.prototype.submit = async function (input) {
      const [outcome] = await this.shared.run([input], true);
      if ('value' in outcome) return outcome.value;
      throw outcome.error;
    };
  },
  logLines() {
    dist('libs/platform', 'logger.js').lineWriter = (logger, level, message) => (members) => logger[level](members, message);
  },
};

const { [process.env.WITHOUT_TRICK]: remove } = WITHOUT;
if (remove === undefined) throw new Error(`There is no trick ${process.env.WITHOUT_TRICK}`);
remove();
