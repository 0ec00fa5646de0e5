// Compares everything that can be asked of a slice of a ledger with the whole ledger.
import assert from 'node:assert/strict'
import { bytesToHex, isLedgerStateError, parseAddress } from '@ledger-state/core'
import {
  balanceHistory,
  type Ledger,
  type LedgerState,
  listAccountChanges,
  listResources,
  listTableItems,
  parseAsset,
  rawTableItemHistory,
  readAccount,
  readBalance,
  readStateValue,
} from '../src/index.ts'
import { ACCOUNTS, ASSETS, INNER_TABLES, LEAF_TABLES, OBJECTS, OUTER_TABLES, universe } from './random-slices.ts'

export const UNKNOWN = 'unknown'

/** Result of a read; `unknown` if a slice does not know. */
export function said(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error, 'version_pruned')) return UNKNOWN
    if (isLedgerStateError(error)) return `${error.code}: ${error.message}`
    throw error
  }
}

const addresses = [...ACCOUNTS, ...OBJECTS, parseAddress('0x1'), parseAddress('0xf0')]
const KEYS = universe()
const tables = [...OUTER_TABLES, ...INNER_TABLES, ...LEAF_TABLES]

/** All reads of a ledger at one version, by name. */
export function* readsAt(state: LedgerState): Generator<[string, () => unknown]> {
  for (const key of KEYS) {
    yield [`value of ${bytesToHex(key)}`, () => bytesToHex(readStateValue(state, key).value)]
  }
  for (const address of addresses) {
    const name = bytesToHex(address)
    yield [`resources of ${name}`, () => [...listResources(state, address)].map(({ bytes }) => bytesToHex(bytes))]
    yield [`account ${name}`, () => bytesToHex(readAccount(state, address).bytes)]
    for (const asset of ASSETS) {
      const [of, metadata] = [parseAsset(bytesToHex(asset)), bytesToHex(asset)]
      yield [`balance of ${name} in ${metadata}`, () => readBalance(state, address, of)]
      for (const order of ['asc', 'desc'] as const) {
        yield [
          `balances of ${name} in ${metadata}, ${order}`,
          () => [...balanceHistory(state, address, of, { order })].map(({ version, value }) => [version, value]),
        ]
      }
    }
    for (const from of [state.ledger.oldestVersion, state.version]) {
      yield [
        `changes of ${name} since ${from}`,
        () =>
          [...listAccountChanges(state, address, from)].map((change) =>
            change.kind === 'resource' ? [change.before?.toJson(), change.after?.toJson()] : change.name,
          ),
      ]
    }
  }
  for (const handle of tables) {
    const name = bytesToHex(handle)
    yield [`items of ${name}`, () => [...listTableItems(state, handle)].map(({ bytes }) => bytesToHex(bytes))]
    for (const order of ['asc', 'desc'] as const) {
      for (const from of [undefined, state.version / 2n]) {
        const key = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)
        yield [
          `item 1 of ${name} since ${from}, ${order}`,
          () =>
            [...rawTableItemHistory(state, handle, key, { from, order })].map(({ version, value }) => [
              version,
              value && bytesToHex(value),
            ]),
        ]
      }
    }
  }
}

/** Compares all reads at every `step`th version, and returns how many of them the slice knew. */
export function compareSlice(whole: Ledger, slice: Ledger, step = 1n): { known: number; unknown: number } {
  const { oldestVersion, latestVersion } = whole.info!
  const counts = { known: 0, unknown: 0 }
  for (let version = oldestVersion; version <= latestVersion; version += step) {
    const answers = new Map(readsAt(whole.at(version)))
    for (const [name, read] of readsAt(slice.at(version))) {
      const [expected, found] = [said(answers.get(name)!), said(read)]
      if (found === UNKNOWN) counts.unknown++
      else {
        assert.deepEqual(found, expected, `${name} at ${version}`)
        counts.known++
      }
    }
  }
  return counts
}
