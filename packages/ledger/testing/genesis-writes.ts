// Writes of a genesis in the shared folder.
import { readFileSync } from 'node:fs'
import { ByteReader, type Write } from '@ledger-state/core'
import { readTransaction, visitWriteSet } from '@ledger-state/proof/transactions'
import { sharedPath } from '@ledger-state/testing/shared-data'

export function writesOfGenesis(path: string): Write[] {
  const bytes = readFileSync(sharedPath(path))
  const genesis = readTransaction(new ByteReader(bytes))
  if (genesis.kind !== 'genesis' || genesis.payload.kind !== 'direct') throw new Error(`${path} is no genesis`)
  return writesOf(bytes.subarray(genesis.payload.writeSetStart, genesis.payload.eventsStart))
}

/** The writes of a write set in BCS. */
export function writesOf(writeSet: Uint8Array): Write[] {
  const writes: Write[] = []
  visitWriteSet(new ByteReader(writeSet), ({ key, value }) => writes.push([key, value]))
  return writes
}
