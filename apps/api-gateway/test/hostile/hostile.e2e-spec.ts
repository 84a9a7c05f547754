import * as fc from 'fast-check';
import { Client } from 'pg';
import { ATTACKS } from '../../../../tools/testing/hostile/attacks';
import { closeConnections, type Target } from '../../../../tools/testing/hostile/client';
import { IS_FULL } from '../../../../tools/testing/runs';
import { startGateway, type TestGateway } from '../gateway';
import {
  asked,
  findable,
  places,
  plainRequests,
  requireAnswersInOrder,
  requireOneSoundAnswer,
  VALUES,
} from './made-up-requests';

/**
 * The requests are the same in each run. `gateway-fuzz.full-spec.ts` generates other requests, and
 * `hostile.full-spec.ts` measures each attack.
 */
const SEED = 25;

let gateway: TestGateway;
let target: Target;

beforeAll(async () => {
  gateway = await startGateway();
  const sql = new Client({ connectionString: gateway.databaseUrl });
  await sql.connect();
  const tokens = new Map<string, Promise<string>>();
  target = {
    port: Number(new URL(gateway.url).port),
    sql,
    token(user) {
      const token = tokens.get(user) ?? gateway.issuer.mint(user);
      tokens.set(user, token);
      return token;
    },
  };
  Object.assign(VALUES, await findable(target));
});

afterAll(async () => {
  closeConnections();
  await target?.sql.end();
  await gateway?.close();
});

test('generated requests get one valid answer each', async () => {
  const inputs = fc.sample(fc.tuple(asked, places), { seed: SEED, numRuns: IS_FULL ? 60 : 20 });
  await Promise.all(inputs.map((input) => requireOneSoundAnswer(target, input)));
});

test('pipelined requests are all answered in order', async () => {
  const inputs = fc.sample(fc.tuple(plainRequests, places), { seed: SEED, numRuns: 10 });
  await Promise.all(inputs.map((input) => requireAnswersInOrder(target, input)));
});

test.each<[string, keyof typeof ATTACKS, number[]]>([
  [ATTACKS.moreChainedMoves.what, 'moreChainedMoves', [400, 200]],
  [ATTACKS.garbageBehindRequest.what, 'garbageBehindRequest', [200, 400]],
])('an attack gets the expected statuses: %s', async (_, name, statuses) => {
  const act = await ATTACKS[name].prepare(target);
  expect((await act()).map(({ status }) => status)).toEqual(statuses);
});
