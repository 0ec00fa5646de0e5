import { atOnce, ByteReader, ByteWriter, type Steps, type Write } from '@ledger-state/core'
import { visitWriteSet, type WriteOp } from '@ledger-state/proof/transactions'

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

/**
 * Writes a write set with an empty value in the place of each value.
 * @param writes the writes that were read from the write set, in its order. If the values lie in its memory, it is not
 * read again.
 * @throws `invalid_bcs`
 */
export function writeWithoutValues(writeSet: Uint8Array, writer: ByteWriter, writes: readonly Write[] = []): void {
  const cut = new ValueCutter(writeSet, writer)
  const empty = (value: Uint8Array | null): void => {
    if (value) cut.replace(value, NOTHING)
  }
  if (holdsValues(writeSet, writes)) for (const [, value] of writes) empty(value)
  else visitWriteSet(new ByteReader(writeSet), ({ value }) => empty(value))
  cut.end()
}

/** Whether values lie in the memory of a write set, one after the other. */
function holdsValues(writeSet: Uint8Array, writes: readonly Write[]): boolean {
  let end = 0
  for (const [, value] of writes) {
    if (!value) continue
    const at = value.byteOffset - writeSet.byteOffset
    if (value.buffer !== writeSet.buffer || at <= end || at + value.length > writeSet.length) return false
    end = at + value.length
  }
  return end > 0
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
  return atOnce(withValuesInSteps(writeSet, readValue))
}

/** Values that are read in one step. */
const VALUES_AT_ONCE = 64

/** The same in steps: a transaction may write thousands of values. @throws `invalid_bcs` */
export function* withValuesInSteps(
  writeSet: Uint8Array,
  readValue: (key: Uint8Array) => Uint8Array | undefined,
): Steps<Uint8Array | undefined> {
  const ops: WriteOp[] = []
  visitWriteSet(new ByteReader(writeSet), (op) => ops.push(op))
  const writer = new ByteWriter()
  const cut = new ValueCutter(writeSet, writer)
  let isKnown = true
  for (const [at, { key, value }] of ops.entries()) {
    if (at % VALUES_AT_ONCE === VALUES_AT_ONCE - 1) yield
    if (!value) continue
    const known = readValue(key)
    if (!known) isKnown = false
    cut.replace(value, known ?? NOTHING)
  }
  cut.end()
  return isKnown ? writer.toBytes() : undefined
}

const NOTHING = new Uint8Array(0)

/** Copies a write set, with other values. */
class ValueCutter {
  readonly #writeSet: Uint8Array
  readonly #writer: ByteWriter
  #copied = 0

  constructor(writeSet: Uint8Array, writer: ByteWriter) {
    this.#writeSet = writeSet
    this.#writer = writer
  }

  /** Replaces the next value, which is a view of the write set. */
  replace(value: Uint8Array, by: Uint8Array): void {
    const at = value.byteOffset - this.#writeSet.byteOffset
    this.#writer.part(this.#writeSet, this.#copied, at - lengthOfUleb(value.length)).byteString(by)
    this.#copied = at + value.length
  }

  end(): void {
    this.#writer.part(this.#writeSet, this.#copied, this.#writeSet.length)
  }
}

function lengthOfUleb(value: number): number {
  let length = 1
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) length++
  return length
}
