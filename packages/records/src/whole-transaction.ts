import { ByteReader, ByteWriter } from '@ledger-state/core'
import { visitWriteSet } from '@ledger-state/proof/transactions'

/** Everything that a source has of the transaction that made a version, each part in BCS. The source has proven it. */
export interface WholeTransaction {
  readonly transaction: Uint8Array
  /** The TransactionInfo. */
  readonly info: Uint8Array
  /** The vector of events. */
  readonly events: Uint8Array
  readonly writeSet: Uint8Array
  /** Index of the transaction in its proposed block; undefined if the source does not say it. */
  readonly indexInBlock: number | undefined
  /** Hash of the info: the leaf of the ledger's accumulator. */
  readonly leaf: Uint8Array
  /** Encodes the frontier of the ledger's accumulator with this version as its last leaf (`AccumulatorFrontier`). */
  readFrontier(): Uint8Array
}

/** Writes a write set with an empty value in the place of each value. @throws `invalid_bcs` */
export function writeWithoutValues(writeSet: Uint8Array, writer: ByteWriter): void {
  replaceValues(writeSet, () => NOTHING, writer)
}

/**
 * The write set with the values of a state instead of the empty values that `writeWithoutValues` left.
 * @param readValue the value of a state key; undefined if it is not known, which makes the result undefined
 * @throws `invalid_bcs`
 */
export function withValues(
  writeSet: Uint8Array,
  readValue: (key: Uint8Array) => Uint8Array | undefined,
): Uint8Array | undefined {
  let isKnown = true
  const writer = new ByteWriter()
  const readOrNothing = (key: Uint8Array) => {
    const value = readValue(key)
    if (!value) isKnown = false
    return value ?? NOTHING
  }
  replaceValues(writeSet, readOrNothing, writer)
  return isKnown ? writer.toBytes() : undefined
}

const NOTHING = new Uint8Array(0)

function replaceValues(writeSet: Uint8Array, readValue: (key: Uint8Array) => Uint8Array, writer: ByteWriter): void {
  const reader = new ByteReader(writeSet)
  let copied = 0
  visitWriteSet(reader, ({ key, value }) => {
    if (!value) return
    const valueAt = value.byteOffset - writeSet.byteOffset
    writer.bytes(writeSet.subarray(copied, valueAt - lengthOfUleb(value.length))).byteString(readValue(key))
    copied = valueAt + value.length
  })
  writer.bytes(writeSet.subarray(copied))
}

function lengthOfUleb(value: number): number {
  let length = 1
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) length++
  return length
}
