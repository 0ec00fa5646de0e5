import { SizedCache } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import {
  decodeTransactionBlock,
  placeOfBlock,
  type StoredTransaction,
  type TransactionBlock,
} from '@ledger-state/records/transaction-blocks'

/** Bytes of decoded blocks: a hundred full ones. */
const CAPACITY = 8 << 20
/** Heap of a decoded transaction without its bytes. */
const TRANSACTION_HEAP = 700

interface Decoded {
  readonly value: Uint8Array
  readonly block: TransactionBlock
}

/** Decodes blocks of transactions, and remembers some of them. */
export class TransactionBlockCache {
  readonly #decoded = new SizedCache<Decoded>(CAPACITY, CAPACITY / 4)
  /** The newest one, whatever its size: a page reads its transactions one after the other. */
  #last: Decoded | undefined

  /** @throws `invalid_bcs` */
  decode(value: Uint8Array): TransactionBlock {
    if (this.#last && compareBytes(this.#last.value, value) === 0) return this.#last.block
    const name = String(placeOfBlock(value)?.firstVersion)
    const known = this.#decoded.get(name)
    // After a truncation, another block may begin with the same version.
    if (known && compareBytes(known.value, value) === 0) {
      this.#last = known
      return known.block
    }
    const decoded = { value: Uint8Array.from(value), block: decodeTransactionBlock(Uint8Array.from(value)) }
    this.#decoded.set(name, decoded, 2 * value.length + heapSizeOf(decoded.block.transactions))
    this.#last = decoded
    return decoded.block
  }
}

function heapSizeOf(transactions: readonly StoredTransaction[]): number {
  return transactions.reduce(
    (sum, { transaction, events, writeSet, outline }) =>
      sum + transaction.length + events.length + writeSet.length + outline.length + TRANSACTION_HEAP,
    0,
  )
}
