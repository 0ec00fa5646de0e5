// A random ledger of holdings with its index, for tests that have no ingest.
import { bytesToHex, type VersionWrites, type Write } from '@ledger-state/core'
import {
  addressIn,
  coinChanges,
  coinNameOf,
  coinTypeIn,
  HOLDINGS_KEY,
  isObjectKey,
  objectChanges,
  readCoinStore,
  readCoinType,
  readHeldObject,
} from '@ledger-state/records'

/** Adds the writes of their index of holdings to versions that begin with 0. */
export function withHoldings(versions: readonly VersionWrites[]): VersionWrites[] {
  const values = new Map<string, Uint8Array | null>()
  return versions.map((record) => {
    const rows: Write[] = record.version === 0n ? [[HOLDINGS_KEY, new Uint8Array(0)]] : []
    for (const [key, value] of record.writes) {
      const name = bytesToHex(key)
      rows.push(...changesOf(key, record.version, values.get(name) ?? null, value))
      values.set(name, value)
    }
    return { ...record, writes: [...record.writes, ...rows] }
  })
}

function changesOf(key: Uint8Array, version: bigint, before: Uint8Array | null, after: Uint8Array | null): Write[] {
  if (isObjectKey(key)) {
    const read = (value: Uint8Array | null) => (value ? readHeldObject(value) : undefined)
    return objectChanges(addressIn(key), version, read(before), read(after))
  }
  const bcs = coinTypeIn(key)
  const coin = bcs && readCoinType(bcs)
  if (!coin) return []
  const exists = (value: Uint8Array | null) => value !== null && readCoinStore(value) !== undefined
  return coinChanges(coinNameOf(coin), addressIn(key), version, exists(before), exists(after))
}
