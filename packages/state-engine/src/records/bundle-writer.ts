import { Buffer } from 'node:buffer'
import { numberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { type LargeBytes, MAX_PIECE_LENGTH, PAGE_PIECE_LENGTH, type PackedBytes } from './large-values.js'

/** A bundle ends once it has this number of pieces: a little more than a mebibyte. */
const MOST_PIECES = 256
const ZEROS = Buffer.alloc(PAGE_PIECE_LENGTH)

/**
 * Packs values into bundles: large values whose pieces fill a page each. The last piece is filled with zeros, or takes at
 * most a quarter of a page; so where a part begins does not depend on how long its bundle becomes.
 */
export class BundleWriter {
  readonly #store: LmdbStore
  readonly #takeId: () => number
  readonly #onEnd: (bundle: LargeBytes) => void
  /** The piece that is being filled. */
  readonly #piece = new RecordBuilder().begin()
  #id: number | undefined
  #pieces = 0

  /** Takes what gives a bundle its id, and what is called with each bundle that has ended. */
  constructor(store: LmdbStore, takeId: () => number, onEnd: (bundle: LargeBytes) => void) {
    this.#store = store
    this.#takeId = takeId
    this.#onEnd = onEnd
  }

  /** Puts a value, which is a part of some bytes. */
  add(source: Uint8Array, start: number, end: number): PackedBytes {
    if (this.#pieces >= MOST_PIECES) this.end()
    this.#id ??= this.#takeId()
    const packed = { id: this.#id, offset: this.#length, length: end - start }
    for (let at = start; at < end; ) {
      const next = Math.min(end, at + PAGE_PIECE_LENGTH - this.#piece.length)
      this.#piece.part(source, at, next)
      if (this.#piece.length === PAGE_PIECE_LENGTH) this.#putPiece()
      at = next
    }
    return packed
  }

  /** Ends the bundle, if there is one. */
  end(): void {
    if (this.#id === undefined) return
    const filled = this.#piece.length
    if (filled > MAX_PIECE_LENGTH) this.#piece.part(ZEROS, filled, PAGE_PIECE_LENGTH)
    const bundle = { id: this.#id, length: this.#length }
    if (this.#piece.length > 0) this.#putPiece()
    this.#onEnd(bundle)
    this.#id = undefined
    this.#pieces = 0
  }

  get #length(): number {
    return PAGE_PIECE_LENGTH * this.#pieces + this.#piece.length
  }

  #putPiece(): void {
    const key = numberedKey(this.#id!, this.#pieces++)
    // Not appended: large values with higher ids may have been put since the bundle began.
    this.#store.large.putSync(key, this.#piece.seal(numberedKeySeed(key)))
    this.#piece.begin()
  }
}
