import { ADDRESS_LENGTH, bytesToHex, hexToBytes } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import type { SliceSpec } from '@ledger-state/slices'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'

const TABLE_ITEM = 1

/**
 * Specification of a slice with one in `oneIn` of the accounts and tables that a source writes, in the order of their
 * first writes, and with the table that is written most often. The latter is the table of the supply. A slice of a real
 * ledger has it too, because a resource of the framework holds its handle.
 */
export async function sampleSlice(location: string, oneIn: number): Promise<SliceSpec> {
  const accounts = new Set<string>()
  const tables = new Map<string, number>()
  const source = await openSource(location, { verify: false })
  for await (const { writes } of source.versions()) {
    for (const [key] of writes) {
      const id = key.subarray(STATE_KEY_ADDRESS_AT, STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH)
      if (id.length < ADDRESS_LENGTH) continue
      const text = bytesToHex(id)
      if (key[0] === TABLE_ITEM) tables.set(text, (tables.get(text) ?? 0) + 1)
      else accounts.add(text)
    }
  }
  await source.close()
  const some = (all: Iterable<string>) => [...all].filter((_, at) => at % oneIn === Math.floor(oneIn / 2))
  const [supply] = [...tables].reduce((one, other) => (other[1] > one[1] ? other : one))
  const kept = new Set([supply, ...some(tables.keys())])
  return { accounts: some(accounts).map(hexToBytes), tables: [...kept].map(hexToBytes), types: [] }
}
