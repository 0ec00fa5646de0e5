import { Buffer } from 'node:buffer'
import { deflateRawSync } from 'node:zlib'
import { numberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { DEFLATED, FRAME_HEADER_LENGTH, MAX_FRAME_LENGTH, type PackedBytes, PLAIN } from './bundle-reader.js'
import { type LargeBytes, MAX_PIECE_LENGTH, PAGE_PIECE_LENGTH } from './large-values.js'

/** Number of pieces after which a bundle ends: a little more than a mebibyte. */
const MOST_PIECES = 256
const ZEROS = Buffer.alloc(PAGE_PIECE_LENGTH)
/**
 * Options of the compression. Level 6 takes two to three times as long, for 6 per cent less of what a validator set
 * writes in each block.
 */
const DEFLATE_OPTIONS = { level: 3 }
/**
 * Share above which compression is not worthwhile. The values are then stored as they are, and a look-up reads only the
 * value that it asks for.
 */
const WORTHWHILE_SHARE = 0.9

/**
 * Packs values into bundles: large values whose pieces fill a page each. The last piece is filled with zeros, or takes
 * at most a quarter of a page, so the place of a frame does not depend on the final length of its bundle. Values of one
 * key are successive and differ little, so a frame of them compresses well.
 */
export class BundleWriter {
  readonly #store: LmdbStore
  readonly #takeId: () => number
  readonly #onEnd: (bundle: LargeBytes) => void
  /** The piece that is being filled. */
  readonly #piece = new RecordBuilder().begin()
  /** Values of the frame that is being filled. */
  readonly #frame = new RecordBuilder().begin()
  #id: number | undefined
  #pieces = 0

  /** Makes a writer. `takeId` gives a bundle its id, and `onEnd` is called with each bundle that has ended. */
  constructor(store: LmdbStore, takeId: () => number, onEnd: (bundle: LargeBytes) => void) {
    this.#store = store
    this.#takeId = takeId
    this.#onEnd = onEnd
  }

  /** Adds a value, which is a part of some bytes. */
  add(source: Uint8Array, start: number, end: number): PackedBytes {
    if (this.#frame.length + end - start > MAX_FRAME_LENGTH) this.#endFrame()
    if (this.#pieces >= MOST_PIECES && this.#frame.length === 0) this.end()
    this.#id ??= this.#takeId()
    const packed = { id: this.#id, frame: this.#length, start: this.#frame.length, length: end - start }
    this.#frame.part(source, start, end)
    return packed
  }

  /** Ends the current bundle, if there is one. */
  end(): void {
    if (this.#id === undefined) return
    this.#endFrame()
    const filled = this.#piece.length
    if (filled > MAX_PIECE_LENGTH) this.#piece.part(ZEROS, filled, PAGE_PIECE_LENGTH)
    const bundle = { id: this.#id, length: this.#length }
    if (this.#piece.length > 0) this.#putPiece()
    this.#onEnd(bundle)
    this.#id = undefined
    this.#pieces = 0
  }

  /** Puts the current frame after the previous ones. */
  #endFrame(): void {
    const values = this.#frame.content
    if (values.length === 0) return
    const deflated = this.#store.compressHistory ? deflateRawSync(values, DEFLATE_OPTIONS) : undefined
    const isDeflated = deflated !== undefined && deflated.length < WORTHWHILE_SHARE * values.length
    const stored = isDeflated ? deflated : values
    const header = Buffer.alloc(FRAME_HEADER_LENGTH)
    header[0] = isDeflated ? DEFLATED : PLAIN
    header.writeUInt32BE(values.length, 1)
    header.writeUInt32BE(stored.length, 5)
    this.#append(header)
    this.#append(stored)
    this.#frame.begin()
  }

  #append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const next = Math.min(bytes.length, at + PAGE_PIECE_LENGTH - this.#piece.length)
      this.#piece.part(bytes, at, next)
      if (this.#piece.length === PAGE_PIECE_LENGTH) this.#putPiece()
      at = next
    }
  }

  get #length(): number {
    return PAGE_PIECE_LENGTH * this.#pieces + this.#piece.length
  }

  #putPiece(): void {
    const key = numberedKey(this.#id!, this.#pieces++)
    // Not appended, because large values with higher ids may have been put since the bundle began.
    this.#store.large.putSync(key, this.#piece.seal(numberedKeySeed(key)))
    this.#piece.begin()
  }
}
