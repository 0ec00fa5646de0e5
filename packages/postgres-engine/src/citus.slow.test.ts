import { testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { CITUS_MISSING, type CitusCluster, ON_CITUS, startCitus } from '../testing/citus-cluster.ts'
import { testContractOn } from '../testing/contract-on.ts'
import { runHistories } from '../testing/random-history.ts'

const HISTORIES = Math.ceil(scaledRounds(300) / 3)
const SEED = testSeed()
const LONG = { timeout: 3_600_000 }
/** Patience for several servers on a machine that tests share. */
const PATIENCE = { patienceMs: 60_000, writePatienceMs: 120_000 }

let cluster: CitusCluster

describe.skipIf(CITUS_MISSING !== undefined)(`the engine ${ON_CITUS}`, () => {
  beforeAll(async () => {
    // With this setting, each connection to a worker is a separate part of a commit.
    const settings = { 'citus.max_adaptive_executor_pool_size': '1' }
    cluster = await startCitus({ workers: 2, shards: 2, settings })
  }, 180_000)

  afterAll(() => cluster?.close())

  testContractOn(() => cluster.url, 600_000, PATIENCE)

  it(`answers as the model does in ${HISTORIES} random histories (TEST_SEED=${SEED})`, LONG, () =>
    runHistories(cluster.url, SEED, HISTORIES),
  )
})
