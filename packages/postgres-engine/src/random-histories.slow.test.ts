import { testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { it } from 'vitest'
import { startPostgres } from '../testing/postgres-server.ts'
import { runHistories } from '../testing/random-history.ts'

const HISTORIES = scaledRounds(120)
const SEED = testSeed()
const LONG = { timeout: 3_600_000 }

it(
  `the engine on PostgreSQL answers as the model does in ${HISTORIES} random histories (TEST_SEED=${SEED})`,
  LONG,
  async () => {
    const server = await startPostgres({ settings: { fsync: 'off' } })
    try {
      await runHistories(server.url(), SEED, HISTORIES)
    } finally {
      await server.close()
    }
  },
)
