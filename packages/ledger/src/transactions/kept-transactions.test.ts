import { parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { type KeptTransaction, TRANSACTIONS_KEY, transactionKey, transactionToBytes } from '@ledger-state/records'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAsyncLedger } from '../async/async-ledger.js'
import { hasTransactions, transactionAt, transactionsSince } from '../index.js'
import { createLedger } from '../state/create-ledger.js'
import type { LedgerState } from '../state/ledger-state.js'

const CHAIN = { chainId: 4 }
const KEPT = new Uint8Array(0)

/** The transaction that made a version: a user's, whose sender is the number of the version. */
function transactionOf(version: bigint): KeptTransaction {
  const hash = new Uint8Array(32).fill(Number(version) & 0xff)
  const sender = parseAddress(`0x${(version + 1n).toString(16)}`)
  return { kind: 'user', hash, isSuccess: version % 3n !== 0n, sender, entryFunction: '0x1::coin::transfer' }
}

/** A version that is a block by itself, with further writes. */
function versionOf(version: bigint, ...own: Write[]): VersionWrites {
  const block = { height: version, epoch: 0n, timestampUsec: version }
  return { version, block, writes: [[Uint8Array.of(0, Number(version % 5n)), Uint8Array.of(1)], ...own] }
}

function keptVersion(version: bigint, ...own: Write[]): VersionWrites {
  return versionOf(version, [transactionKey(version), transactionToBytes(transactionOf(version))], ...own)
}

/** Commits versions up to 219; those from 100 to 199 come with transactions. */
async function commitLedger(engine: StateWriter): Promise<void> {
  for (let version = 0n; version < 220n; version++) {
    const mark: Write[] =
      version === 100n ? [[TRANSACTIONS_KEY, KEPT]] : version === 200n ? [[TRANSACTIONS_KEY, null]] : []
    const isKept = version >= 100n && version < 200n
    await engine.commit([isKept ? keptVersion(version, ...mark) : versionOf(version, ...mark)], CHAIN)
  }
}

let engine: StateWriter
beforeEach(async () => {
  engine = createMemoryEngine()
  await commitLedger(engine)
})

describe.each(['a ledger', 'an async ledger'])('the transactions of %s', (kind) => {
  async function read<T>(run: (state: LedgerState) => T, version?: bigint): Promise<T> {
    if (kind === 'a ledger') return run(createLedger(engine).at(version))
    return await createAsyncLedger(engineToAsync(engine)).read((ledger) => run(ledger.at(version)))
  }

  it('belong to the versions that came with them', async () => {
    const versions = Array.from({ length: 220 }, (_, version) => BigInt(version))
    const found = await read((state) => versions.map((version) => transactionAt(state, version)))
    expect(found).toEqual(versions.map((at) => (at >= 100n && at < 200n ? transactionOf(at) : undefined)))
  })

  it('are known since the oldest version, once earlier ones are pruned', async () => {
    for (const [oldest, since] of [
      [50n, 100n],
      [150n, 150n],
    ] as const) {
      await engine.prune(engine.ledger!.latestVersion + 1n - oldest)
      expect(engine.ledger!.oldestVersion).toBe(oldest)
      expect(await read(transactionsSince, 199n)).toBe(since)
    }
  })

  it('are known since the first of them, as long as none is missing', async () => {
    expect(await read((state) => [hasTransactions(state), transactionsSince(state)], 99n)).toEqual([false, undefined])
    expect(await read((state) => [hasTransactions(state), transactionsSince(state)], 100n)).toEqual([true, 100n])
    expect(await read((state) => [hasTransactions(state), transactionsSince(state)], 199n)).toEqual([true, 100n])
    expect(await read((state) => [hasTransactions(state), transactionsSince(state)], 219n)).toEqual([true, undefined])
  })

  it('leave with the window', async () => {
    await engine.prune(70n)
    expect(await read((state) => [149n, 150n].map((version) => transactionAt(state, version)))).toEqual([
      undefined,
      transactionOf(150n),
    ])
    await engine.prune(10n)
    expect(await read((state) => hasTransactions(state))).toBe(false)
  })
})

it('a version that was cut off has no transaction for whoever pinned it before', async () => {
  const state = createLedger(engine).at(150n)
  await engine.truncateTo(140n)
  for (let version = 141n; version < 160n; version++) await engine.commit([versionOf(version)], CHAIN)
  expect(transactionAt(state, 140n)).toEqual(transactionOf(140n))
  expect(() => transactionAt(state, 141n)).toThrow(expect.objectContaining({ code: 'version_truncated' }))
})

it('data that is no transaction is not read as one', async () => {
  await engine.commit([versionOf(220n, [transactionKey(220n), Uint8Array.of(1, 2)], [TRANSACTIONS_KEY, KEPT])], CHAIN)
  expect(transactionAt(createLedger(engine).at(), 220n)).toBeUndefined()
})
