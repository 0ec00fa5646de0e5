import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { CITUS_URL } from '../testing/citus-cluster.ts'
import { clearStore } from '../testing/clear-store.ts'
import { removeStore } from '../testing/contract-on.ts'
import { startPostgres } from '../testing/postgres-server.ts'
import { RandomHistory } from '../testing/random-history.ts'
import { migratePostgresStore, openPostgresEngine, openPostgresEngineReader } from './open-postgres-engine.js'

const HISTORIES = Number(process.env.ENGINE_HISTORIES ?? 300)
/** The smallest statement of Citus takes some ms. */
const CITUS_HISTORIES = Math.ceil(HISTORIES / 20)
const SEED = testSeed()
/** On a machine that tests share. */
const PATIENCE = { patienceMs: 60_000 }
const LONG = { timeout: 3_600_000 }

async function runHistories(url: string, count: number): Promise<void> {
  await removeStore(url)
  await migratePostgresStore({ url })
  for (let at = 0; at < count; at++) {
    await clearStore(url)
    const seed = SEED + at
    try {
      await RandomHistory.run(createRandom(seed), () => openPostgresEngine({ url, create: false, ...PATIENCE }))
      const reader = await openPostgresEngineReader({ url, ...PATIENCE })
      expect((await reader.check()).problems).toEqual([])
      await reader.close()
    } catch (error) {
      throw new Error(`the history of seed ${seed} differs (TEST_SEED=${seed} repeats it first)`, { cause: error })
    }
  }
}

it(`answers as the model does in ${HISTORIES} random histories (TEST_SEED=${SEED})`, LONG, async () => {
  const server = await startPostgres({ settings: { fsync: 'off' } })
  try {
    await runHistories(server.url(), HISTORIES)
  } finally {
    await server.close()
  }
})

it.skipIf(CITUS_URL === undefined)(
  `answers as the model does in ${CITUS_HISTORIES} random histories on Citus (CITUS_URL, TEST_SEED=${SEED})`,
  LONG,
  () => runHistories(CITUS_URL!, CITUS_HISTORIES),
)
