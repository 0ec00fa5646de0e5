import { parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import { type CommitOptions, createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { keptOf, ownedObject } from '@ledger-state/ledger/testing/random-slices'
import { commitViewLedger, HELD, HOLDERS, u64 } from '@ledger-state/ledger/testing/view-ledger'
import { encodeSliceLeftOut, SLICE_LEFT_OUT_KEY } from '@ledger-state/records'
import { parseSliceSpec, SliceKeeper } from '@ledger-state/slices'
import { resourceKey } from '@ledger-state/type-tag'

const OBJECT = parseAddress('0xb1')

/** Versions 1 to 3: state of two accounts, and an object that the first one gets. */
const VERSIONS = [
  [[resourceKey(HOLDERS[0]!, HELD), u64(7)] as const, [resourceKey(HOLDERS[1]!, HELD), u64(8)] as const],
  [[resourceKey(OBJECT, HELD), u64(1)] as const],
  [
    ownedObject(OBJECT, HOLDERS[0]!),
    [SLICE_LEFT_OUT_KEY, encodeSliceLeftOut({ keys: 0, bytes: 0, writes: 2, writtenBytes: 90 })] as const,
  ],
]

interface SlicedLedgerOptions {
  /** Handles of tables of the slice; none by default. */
  readonly tables?: readonly string[]
  /** Writes of further versions. */
  readonly further?: readonly (readonly Write[])[]
}

/** A slice of the account 0xa1. */
export async function slicedLedger({ tables = [], further = [] }: SlicedLedgerOptions = {}): Promise<StateWriter> {
  const engine = createMemoryEngine()
  const keeper = SliceKeeper.begin(parseSliceSpec({ accounts: ['0xa1'], tables, types: ['0x9::m::*'] }), 0n)
  const commit = async (records: readonly VersionWrites[], options: CommitOptions): Promise<void> => {
    const kept = records.map((record) => {
      const writes = keptOf(keeper, engine, record.version, record.writes)
      return { ...record, writes: [...writes, ...keeper.takeRecords()] }
    })
    await engine.commit(kept, options)
    keeper.settle()
  }
  await commitViewLedger({ commit }, 0n, [...VERSIONS, ...further])
  return engine
}
