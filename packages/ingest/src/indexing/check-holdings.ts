import { bytesToHex, type Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { StateEngineReader } from '@ledger-state/engine'
import {
  addressIn,
  coinChanges,
  coinNameOf,
  coinTypeIn,
  HOLDINGS_KEY,
  isHoldingsKey,
  isObjectKey,
  isRowOfHeld,
  objectChanges,
  readCoinStore,
  readCoinType,
  readHeldObject,
} from '@ledger-state/records'

/** Most problems that are listed. */
const MOST_PROBLEMS = 20
/** Entries after which the event loop has a turn. */
const ENTRIES_OF_TURN = 10_000

/** The result of `checkHoldings`. */
export interface HoldingsReport {
  readonly version: bigint
  /** Rows of the index about current holdings. */
  readonly rows: number
  /** Faults, in words; empty if the index matches the state. */
  readonly problems: readonly string[]
}

/**
 * Derives the index of holdings from the whole state at a version, and compares it with the one in the store. Undefined
 * if the store has none at that version.
 * @throws errors of the store; the reason of the signal
 */
export async function checkHoldings(
  store: StateEngineReader,
  version: bigint,
  signal?: AbortSignal,
): Promise<HoldingsReport | undefined> {
  const view = store.at(version)
  if (!view.has(HOLDINGS_KEY)) return undefined
  const problems: string[] = []
  const add = (problem: string): void => {
    if (problems.length < MOST_PROBLEMS) problems.push(problem)
  }
  let [expected, found, entries] = [0, 0, 0]
  for (const { key, value } of view.scan(new Uint8Array(0))) {
    if (++entries % ENTRIES_OF_TURN === 0) {
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
    }
    if (isHoldingsKey(key)) {
      if (isRowOfHeld(key)) found++
      continue
    }
    for (const [row, content] of rowsOf(key, value)) {
      expected++
      const held = view.get(row)
      if (!held) add(`the row ${bytesToHex(row)} is missing`)
      else if (compareBytes(held, content!) !== 0)
        add(`the row ${bytesToHex(row)} has another value than the state says`)
    }
  }
  if (found > expected) add(`the index has ${found - expected} rows too many`)
  return { version, rows: found, problems }
}

/** The rows of the index for a value of the state. */
function rowsOf(key: Uint8Array, value: Uint8Array): readonly Write[] {
  if (isObjectKey(key)) return objectChanges(addressIn(key), 0n, undefined, readHeldObject(value))
  const bcs = coinTypeIn(key)
  const coin = bcs && readCoinType(bcs)
  if (!coin) return []
  return coinChanges(coinNameOf(coin), addressIn(key), 0n, false, readCoinStore(value) !== undefined)
}
