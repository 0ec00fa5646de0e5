import type { VersionWrites } from '@ledger-state/core'
import type { LedgerSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger, type Ledger, listActivities, listBalances, listHolders } from '@ledger-state/ledger'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'
import { addressOf, changingStores, newStores, storeKey } from '../workload/holdings-ledger.ts'

/** Items of a page, as of a request without `limit`. */
const PAGE = 100
const OWNER = addressOf('owner', 0)
const ASSET = addressOf('asset', 0)
const MOMENTS = ['newest', 'middle', 'oldest'] as const

export const holdingsSuite: Suite = {
  name: 'holdings',
  summary: 'first pages of the activities and balances of accounts and of the holders of an asset, at several versions',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.3e9, diskBytes: 0.1e9 },
      small: { minutes: 2, memoryBytes: 1e9, diskBytes: 0.3e9 },
      medium: { minutes: 5, memoryBytes: 1e9, diskBytes: 2e9 },
      large: { minutes: 30, memoryBytes: 2e9, diskBytes: 10e9 },
    })[scale],
  async run(run) {
    const changes = run.byScale({ tiny: 2_000, small: 100_000, medium: 1_000_000, large: 10_000_000 })
    for (const stores of run.byScale({
      tiny: [10, 100],
      small: [100, 2_000],
      medium: [100, 10_000],
      large: [100, 10_000],
    }))
      await measureActivities(run, stores, changes)
    await measureHolders(run, run.byScale({ tiny: 1_000, small: 20_000, medium: 200_000, large: 1_000_000 }))
  },
}

async function measureActivities(run: BenchRun, stores: number, changes: number): Promise<void> {
  const title = `${changes} changes of one account in ${stores} stores: the first page of ${PAGE}`
  await withLedger(run, title, changingStores(OWNER, stores, changes), async (ledger) => {
    measureFloor(run, title, ledger, stores)
    for (const [moment, version] of momentsOf(ledger)) {
      for (const order of ['desc', 'asc'] as const) {
        measure(run, title, `activities up to the ${moment} version, ${order}`, () => {
          const limit = PAGE
          return listActivities(ledger.at(version), OWNER, { order, limit })
        })
      }
      measure(run, title, `balances at the ${moment} version`, () =>
        listBalances(ledger.at(version), OWNER, { limit: PAGE }),
      )
    }
  })
}

async function measureHolders(run: BenchRun, stores: number): Promise<void> {
  const title = `${stores} stores of one asset: the first page of ${PAGE} holders`
  await withLedger(run, title, newStores(ASSET, stores), async (ledger) => {
    measureFloor(run, title, ledger, stores)
    for (const [moment, version] of momentsOf(ledger)) {
      measure(run, title, `holders at the ${moment} version`, () =>
        listHolders(ledger.at(version), { kind: 'fungibleAsset', metadata: ASSET }, { limit: PAGE }),
      )
    }
  })
}

/** The newest version, the one in the middle, and one with a hundredth of the ledger before it. */
function momentsOf(ledger: Ledger): (readonly [(typeof MOMENTS)[number], bigint])[] {
  const { version } = ledger.at()
  return [
    [MOMENTS[0], version],
    [MOMENTS[1], version / 2n],
    [MOMENTS[2], version / 100n],
  ]
}

async function withLedger(
  run: BenchRun,
  title: string,
  versions: Iterable<VersionWrites>,
  use: (ledger: Ledger) => Promise<void>,
): Promise<void> {
  run.step(`ingesting ${title}`)
  const path = run.folder('holdings')
  const engine = openStateEngine({ path, durability: 'none' })
  await ingestSource(engine, sourceOf(versions))
  await engine.close()
  const reader = openStateEngineReader({ path })
  try {
    await use(createLedger(reader))
  } finally {
    await reader.close()
    run.removeFolder('holdings')
  }
}

/** Reads the stores of a page by their keys: every list that shows them has to. */
function measureFloor(run: BenchRun, title: string, ledger: Ledger, stores: number): void {
  const keys = Array.from({ length: Math.min(PAGE, stores) }, (_, at) => storeKey(at))
  const read = () => {
    const { view } = ledger.at()
    return keys.map((key) => view.get(key))
  }
  measure(run, title, `look-ups of ${keys.length} stores`, read, 'floor')
}

/** Records the times of one page, each read from the beginning. The first round, which warms up, does not count. */
function measure(run: BenchRun, title: string, subject: string, open: () => Iterable<unknown>, role?: 'floor'): void {
  run.throwIfInterrupted()
  const rounds: number[] = []
  const count = run.byScale({ tiny: 3, small: 21, medium: 51, large: 51 })
  for (let round = 0; round <= count; round++) {
    const began = performance.now()
    for (const _ of open());
    if (round > 0) rounds.push(performance.now() - began)
  }
  run.record({ title, subject, metric: 'time', unit: 'ms', rounds, ...(role && { role }) })
}

function sourceOf(versions: Iterable<VersionWrites>): LedgerSource {
  return {
    description: 'made for this suite',
    chainId: 4,
    position: 'the made ledger',
    mark: undefined,
    progress: { done: 0, total: 0, unit: 'versions' },
    async *versions() {
      yield* versions
    },
    async close() {},
  }
}
