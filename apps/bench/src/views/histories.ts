import { ByteWriter, hexToBytes, parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import { callView, createLedger, type LedgerState, type ViewRequest, viewHistory } from '@ledger-state/ledger'
import { openStateEngine } from '@ledger-state/state-engine'
import { parseStructTag, parseTypeTag, resourceKey } from '@ledger-state/type-tag'
import type { BenchRun } from '../run/bench-run.ts'

const OWNER = '0x1001'
const COIN = '0x1::aptos_coin::AptosCoin'
const COIN_STORE = resourceKey(parseAddress(OWNER), parseStructTag(`0x1::coin::CoinStore<${COIN}>`))
const BALANCE: ViewRequest = {
  address: parseAddress('0x1'),
  module: 'coin',
  function: 'balance',
  typeArguments: [parseTypeTag(COIN)],
  arguments: { json: [OWNER] },
}

/** One version in this many writes a value that the view reads. */
const VERSIONS_PER_STEP = 10
const BATCH = 1_000
/** Most versions at which the view is called, to find out the cost of calling it at each. */
const MOST_ASKED = 2_000
const BUDGET = { instructions: 1e12, bytes: 1e15, reads: 1e9, readBytes: 1e12 }

/**
 * Measures the history of `coin::balance` over windows with more and more changes, compared with calls at every
 * version.
 */
export async function measureHistories(run: BenchRun, state: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const steps = run.byScale({
    tiny: [10],
    small: [10, 1_000],
    medium: [10, 1_000, 100_000],
    large: [10, 1_000, 100_000],
  })
  for (const count of steps) await measureHistory(run, state, count)
}

async function measureHistory(run: BenchRun, state: ReadonlyMap<string, Uint8Array>, steps: number): Promise<void> {
  const title = `history of coin::balance, ${steps} changes in ${steps * VERSIONS_PER_STEP} versions`
  run.step(title)
  const folder = `view-history-${steps}`
  const engine = openStateEngine({ path: run.folder(folder), durability: 'none' })
  await engine.commit([{ version: 0n, block: blockAt(0), writes: firstWrites(state) }], { chainId: 4 })
  const last = steps * VERSIONS_PER_STEP
  for (let first = 1; first <= last; first += BATCH) {
    const versions = Array.from({ length: Math.min(BATCH, last - first + 1) }, (_, at) => versionAt(first + at))
    await engine.commit(versions, { chainId: 4 })
  }
  const pinned = createLedger(engine).at()
  const rounds = run.byScale({ tiny: 1, small: 5, medium: 3, large: 3 })
  const perSecond: number[] = []
  const ours: number[] = []
  const asked: number[] = []
  for (let round = -1; round < rounds; round++) {
    const whole = timeOf(() => readHistory(pinned, steps))
    const each = timeOf(() => askEach(engine, last))
    if (round < 0) continue
    perSecond.push((1e3 * (steps + 1)) / whole)
    ours.push(whole)
    asked.push((each * (last + 1)) / Math.min(MOST_ASKED, last + 1))
  }
  run.record({ title, subject: 'viewHistory', metric: 'time', unit: 'ms', rounds: ours })
  run.record({
    title,
    subject: 'the view at every version (2,000 asked)',
    role: 'floor',
    metric: 'time',
    unit: 'ms',
    rounds: asked,
  })
  run.record({ title, subject: 'viewHistory', metric: 'runs', unit: 'runs/s', better: 'higher', rounds: perSecond })
  await engine.close()
  run.removeFolder(folder)
}

function readHistory(state: LedgerState, steps: number): void {
  let count = 0
  for (const { error } of viewHistory(state, BALANCE, { budget: BUDGET })) {
    if (error) throw error
    count++
  }
  if (count !== steps + 1) throw new Error(`${count} changes, ${steps + 1} were written`)
}

function askEach(engine: Parameters<typeof createLedger>[0], last: number): void {
  const ledger = createLedger(engine)
  const count = Math.min(MOST_ASKED, last + 1)
  for (let at = 0; at < count; at++) callView(ledger.at(BigInt(at)), BALANCE, { budget: BUDGET })
}

function timeOf(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

function firstWrites(state: ReadonlyMap<string, Uint8Array>): Write[] {
  const store = Buffer.from(COIN_STORE).toString('hex')
  const others = [...state].flatMap(([key, value]): Write[] => (key === store ? [] : [[hexToBytes(key), value]]))
  return [...others, [COIN_STORE, coinStore(0)]]
}

function versionAt(version: number): VersionWrites {
  const writes: Write[] = version % VERSIONS_PER_STEP === 0 ? [[COIN_STORE, coinStore(version)]] : []
  return { version: BigInt(version), block: blockAt(version), writes }
}

function blockAt(version: number) {
  return { height: BigInt(version), epoch: 0n, timestampUsec: BigInt(version) * 1_000_000n }
}

/** BCS of `0x1::coin::CoinStore`: the coin, whether it is frozen, and two event handles. */
function coinStore(balance: number): Uint8Array {
  const writer = new ByteWriter().u64(BigInt(balance)).bool(false)
  for (const creationNumber of [2n, 3n]) writer.u64(0n).u64(creationNumber).bytes(parseAddress(OWNER))
  return writer.toBytes()
}
