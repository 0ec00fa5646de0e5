import { ByteReader, ByteWriter } from '@ledger-state/core'
import { HASH_LENGTH } from '@ledger-state/proof'
import { visitWriteSet } from '@ledger-state/proof/transactions'
import type { Codec } from './codec.js'

/** Everything that a ledger has of the transaction that made a version, each part in BCS. */
export interface WholeTransaction {
  readonly transaction: Uint8Array
  /** The TransactionInfo. */
  readonly info: Uint8Array
  /** The vector of events. */
  readonly events: Uint8Array
  readonly writeSet: Uint8Array
  /** Index of the transaction in its proposed block; undefined if the source does not say it. */
  readonly indexInBlock: number | undefined
  /** Root of the ledger's accumulator with this version. */
  readonly accumulatorRoot: Uint8Array
}

/** A transaction in the form of a store: the write set has no values, because the state of the version has them. */
export type StoredTransaction = WholeTransaction

// root of the accumulator, 32 bytes · option of u32 index in its block · info · events · transaction, each with its
// length · write set
const FORM = 0

/** Writes and reads `StoredTransaction`. */
export const STORED_TRANSACTION: Codec<StoredTransaction> = { encode, decode }

function encode({ transaction, info, events, writeSet, indexInBlock, accumulatorRoot }: StoredTransaction): Uint8Array {
  const writer = new ByteWriter()
    .u8(FORM)
    .bytes(accumulatorRoot)
    .bool(indexInBlock !== undefined)
  if (indexInBlock !== undefined) writer.u32(indexInBlock)
  return writer.byteString(info).byteString(events).byteString(transaction).bytes(writeSet).toBytes()
}

function decode(bytes: Uint8Array): StoredTransaction {
  const reader = new ByteReader(bytes)
  const form = reader.readU8()
  if (form !== FORM) throw reader.fault(`unknown form ${form} of a stored transaction`, 0)
  const accumulatorRoot = reader.readBytes(HASH_LENGTH)
  const indexInBlock = reader.readBool() ? reader.readU32() : undefined
  const info = reader.readByteString()
  const events = reader.readByteString()
  const transaction = reader.readByteString()
  return { transaction, info, events, writeSet: reader.readBytes(reader.remaining), indexInBlock, accumulatorRoot }
}

/** The write set with an empty value in the place of each value. @throws `invalid_bcs` */
export function withoutValues(writeSet: Uint8Array): Uint8Array {
  return replaceValues(writeSet, () => NOTHING)
}

/**
 * The write set with the values of a state in place of the empty values that `withoutValues` left.
 * @param readValue the value of a state key; undefined if it is not known, which makes the result undefined
 * @throws `invalid_bcs`
 */
export function withValues(
  writeSet: Uint8Array,
  readValue: (key: Uint8Array) => Uint8Array | undefined,
): Uint8Array | undefined {
  let isKnown = true
  const whole = replaceValues(writeSet, (key) => {
    const value = readValue(key)
    if (!value) isKnown = false
    return value ?? NOTHING
  })
  return isKnown ? whole : undefined
}

const NOTHING = new Uint8Array(0)

function replaceValues(writeSet: Uint8Array, readValue: (key: Uint8Array) => Uint8Array): Uint8Array {
  const reader = new ByteReader(writeSet)
  const writer = new ByteWriter()
  let copied = 0
  visitWriteSet(reader, ({ key, value }) => {
    if (!value) return
    const valueAt = value.byteOffset - writeSet.byteOffset
    writer.bytes(writeSet.subarray(copied, valueAt - lengthOfUleb(value.length))).byteString(readValue(key))
    copied = valueAt + value.length
  })
  return writer.bytes(writeSet.subarray(copied)).toBytes()
}

function lengthOfUleb(value: number): number {
  let length = 1
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) length++
  return length
}
