// Histories of views over a database, compared with histories over an engine in memory.
import { LedgerStateError, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import {
  type AsyncLedger,
  type Change,
  createAsyncLedger,
  createLedger,
  type ViewAnswer,
  type ViewHistoryOptions,
  type ViewRequest,
  viewHistory,
} from '@ledger-state/ledger'
import {
  call,
  commitViewLedger,
  HELD,
  HOLDERS,
  LIBRARIES,
  PROGRAM,
  u64,
} from '@ledger-state/ledger/testing/view-ledger'
import { openPostgresEngine } from '@ledger-state/postgres-engine'
import { CITUS_MISSING, ON_CITUS, startCitus } from '@ledger-state/postgres-engine/testing/citus-cluster'
import { startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { moduleKey, resourceKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'

const SEED = testSeed()
const REQUESTS = [
  call('value', '0xa1'),
  call('either', '0xa1', '0xa2'),
  call('parity_of_time'),
  call('point'),
  call('absent'),
]
const PATIENCE = { patienceMs: 60_000, writePatienceMs: 120_000 }

/** Writes of 80 versions: values of three holders, deletions, and now and then another library. */
function randomVersions(): Write[][] {
  const random = createRandom(SEED)
  return Array.from({ length: 80 }, () => {
    const writes: Write[] = []
    for (const holder of HOLDERS) {
      if (random.below(3) === 0) writes.push([resourceKey(holder, HELD), random.below(4) ? u64(random.below(3)) : null])
    }
    if (random.below(12) === 0) writes.push([moduleKey(PROGRAM, 'lib'), random.pick(LIBRARIES)])
    return writes
  })
}

function seen({ version, timestampUsec, value, error }: Change<ViewAnswer>): unknown {
  return [version, timestampUsec, error instanceof LedgerStateError ? `${error.code} ${error.message}` : value?.json]
}

function readHere(state: StateReader, request: ViewRequest, options: ViewHistoryOptions): unknown[] {
  return [...viewHistory(createLedger(state).at(), request, options)].map(seen)
}

async function readThere(ledger: AsyncLedger, request: ViewRequest, options: ViewHistoryOptions): Promise<unknown[]> {
  const found: unknown[] = []
  for (let start: bigint | undefined; ; ) {
    const from = start
    const page = await ledger.read((loaded) => {
      const history = viewHistory(loaded.at(), request, { ...options, limit: 7, start: from })
      return { changes: [...history].map(seen), cursor: history.cursor }
    })
    found.push(...page.changes)
    start = page.cursor
    if (start === undefined) return found
  }
}

async function expectSameHistories(url: string): Promise<void> {
  const versions = randomVersions()
  const model = createMemoryEngine()
  const engine = await openPostgresEngine({ url, ...PATIENCE })
  try {
    for (const one of [model, engine]) {
      await commitViewLedger(one, 0n, versions)
      await one.prune(60n)
    }
    const ledger = createAsyncLedger(engine)
    for (const request of REQUESTS) {
      for (const options of [{}, { order: 'asc' }, { sample: { points: 9 } }] as const) {
        expect(await readThere(ledger, request, options)).toEqual(readHere(model, request, options))
      }
    }
  } finally {
    await engine.close()
  }
}

describe(`the history of a view over a database (TEST_SEED=${SEED})`, () => {
  it('is the same on PostgreSQL as in memory', async () => {
    const server = await startPostgres()
    try {
      await expectSameHistories(server.url())
    } finally {
      await server.close()
    }
  })

  it.skipIf(CITUS_MISSING !== undefined)(`is the same ${ON_CITUS} as in memory`, async () => {
    const cluster = await startCitus({ workers: 2, shards: 4 })
    try {
      await expectSameHistories(cluster.url)
    } finally {
      await cluster.close()
    }
  })
})
