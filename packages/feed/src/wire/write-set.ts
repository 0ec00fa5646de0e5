import type { ByteReader, Write } from '@ledger-state/core'
import { visitWriteSet, type WriteOp } from '@ledger-state/proof/transactions'
import { noteToAnnotation } from '@ledger-state/records'

/**
 * Most writes of a write set that are read into memory, about 900 bytes for each. A chain writes about 8,000 in a
 * transaction; a genesis that takes a ledger over may write about 100,000.
 */
const MAX_WRITES = 2 ** 18

/**
 * Reads the writes of a write set: keys in database form, values as views of the reader's bytes, and annotations
 * (`noteToAnnotation`).
 * @throws `invalid_bcs`
 */
export function readWriteSet(reader: ByteReader): Write[] {
  const writes: Write[] = []
  visitWriteSet(reader, (op) => {
    if (writes.length === MAX_WRITES) throw reader.fault(`a write set of more than ${MAX_WRITES} writes`)
    writes.push(opToWrite(op))
  })
  return writes
}

function opToWrite({ key, kind, value, metadata }: WriteOp): Write {
  if (value === null) return [key, null]
  const annotation = noteToAnnotation({ metadata, isCreation: kind === 'creation' })
  return annotation ? [key, value, annotation] : [key, value]
}
