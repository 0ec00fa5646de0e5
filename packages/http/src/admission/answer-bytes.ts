import type { Steps } from '@ledger-state/core'
import type { ChunkedBytes } from '../protocol/chunked-bytes.js'
import { freeBytes } from '../protocol/free-bytes.js'
import { textPieces } from '../protocol/text-pieces.js'
import { CHUNK_BYTES, type ChunkPool } from './chunk-pool.js'

/** Bytes that are appended in one step: about 0.01 ms. */
const STEP_BYTES = 65_536

const FIRST_BYTES = 1_024
const MOST_UTF8_BYTES_PER_UNIT = 3
/** Most bytes at the end of a chunk that a character does not fit in. */
const MOST_SPARED = 3

const UTF8 = new TextEncoder()

interface Chunk {
  readonly memory: Buffer
  /** Bytes that are written. */
  length: number
}

/**
 * An answer that is built piece by piece, in memory outside of the heap: as strings its pieces would take several times
 * their length. It grows by chunks, which are not moved any more. Memory is counted before it is allocated.
 */
export class AnswerBytes implements ChunkedBytes {
  readonly #hold: (bytes: number) => void
  readonly #pool: ChunkPool
  #chunks: Chunk[] = []
  /** Number of the chunk that is written; those after it are free. */
  #at = 0
  #length = 0
  #capacity = 0

  /** @param hold counts bytes that are about to be allocated, and throws if there is no room for them */
  constructor(hold: (bytes: number) => void, pool: ChunkPool) {
    this.#hold = hold
    this.#pool = pool
  }

  get length(): number {
    return this.#length
  }

  get capacity(): number {
    return this.#capacity
  }

  /** The bytes so far. Writing more may move the first chunk. */
  get chunks(): readonly Uint8Array[] {
    return this.#chunks.slice(0, this.#at + 1).map(({ memory, length }) => memory.subarray(0, length))
  }

  /**
   * Appends a text.
   * @throws `overloaded`
   */
  text(text: string): this {
    const chunk = this.#chunks[this.#at]
    if (chunk && text.length * MOST_UTF8_BYTES_PER_UNIT <= chunk.memory.length - chunk.length) {
      this.#wrote(chunk, chunk.memory.write(text, chunk.length))
      return this
    }
    this.#reserve(Buffer.byteLength(text))
    for (let done = 0; done < text.length; ) {
      const into = this.#chunks[this.#at]!
      const { read, written } = UTF8.encodeInto(done === 0 ? text : text.slice(done), into.memory.subarray(into.length))
      done += read
      this.#wrote(into, written)
      if (done < text.length) this.#at++
    }
    return this
  }

  /**
   * Appends bytes.
   * @throws `overloaded`
   */
  write(bytes: Uint8Array): this {
    const chunk = this.#chunks[this.#at]
    if (chunk && bytes.length <= chunk.memory.length - chunk.length) {
      chunk.memory.set(bytes, chunk.length)
      this.#wrote(chunk, bytes.length)
      return this
    }
    this.#reserve(bytes.length)
    for (let done = 0; done < bytes.length; ) {
      const into = this.#chunks[this.#at]!
      const part = bytes.subarray(done, done + into.memory.length - into.length)
      into.memory.set(part, into.length)
      done += part.length
      this.#wrote(into, part.length)
      if (done < bytes.length) this.#at++
    }
    return this
  }

  /**
   * Same as `text`, in steps if the text is long.
   * @throws `overloaded`
   */
  *textInSteps(text: string): Steps<this> {
    let isBegun = false
    for (const piece of textPieces(text)) {
      if (isBegun) yield
      isBegun = true
      this.text(piece)
    }
    return this
  }

  /**
   * Same as `write`, in steps if there are many bytes.
   * @throws `overloaded`
   */
  *writeInSteps(bytes: Uint8Array): Steps<this> {
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      if (at > 0) yield
      this.write(bytes.subarray(at, at + STEP_BYTES))
    }
    return this
  }

  /**
   * Puts bytes before all others.
   * @throws `overloaded`
   */
  prefix(bytes: Uint8Array): this {
    if (this.#length === 0) return this.write(bytes)
    const chunk = this.#allocate(bytes.length)
    this.#chunks.unshift(chunk)
    this.#at++
    chunk.memory.set(bytes)
    this.#wrote(chunk, bytes.length)
    return this
  }

  /** Forgets the bytes, and keeps the memory for the next ones. */
  clear(): void {
    for (const chunk of this.#chunks) chunk.length = 0
    this.#at = 0
    this.#length = 0
  }

  /**
   * Gives the memory back; otherwise it stays until the next collection of the old generation. Nobody may read the chunks
   * any more.
   */
  free(): void {
    for (const { memory } of this.#chunks) this.#release(memory)
    this.#chunks = []
    this.#at = 0
    this.#length = 0
    this.#capacity = 0
  }

  #wrote(chunk: Chunk, bytes: number): void {
    chunk.length += bytes
    this.#length += bytes
  }

  /** Makes room for bytes: in the first chunk while the answer is short, otherwise in further chunks. */
  #reserve(bytes: number): void {
    const [first] = this.#chunks
    const needed = this.#length + bytes
    if (this.#at === 0 && needed <= CHUNK_BYTES) {
      const capacity = first?.memory.length ?? 0
      if (needed > capacity) this.#growFirst(Math.min(CHUNK_BYTES, Math.max(needed, 2 * capacity, FIRST_BYTES)))
      return
    }
    let room = 0
    for (let at = this.#at; room < bytes; at++) {
      this.#chunks[at] ??= this.#allocate(CHUNK_BYTES)
      const { memory, length } = this.#chunks[at]!
      room += memory.length - length - MOST_SPARED
    }
  }

  #growFirst(capacity: number): void {
    const [first] = this.#chunks
    const chunk = this.#allocate(capacity, first?.memory.length)
    if (first) {
      first.memory.copy(chunk.memory, 0, 0, first.length)
      chunk.length = first.length
      this.#release(first.memory)
    }
    this.#chunks[0] = chunk
  }

  /** @param replaced bytes of the chunk that it replaces */
  #allocate(bytes: number, replaced = 0): Chunk {
    this.#hold(bytes - replaced)
    this.#capacity += bytes - replaced
    return { memory: bytes === CHUNK_BYTES ? this.#pool.take() : Buffer.allocUnsafeSlow(bytes), length: 0 }
  }

  #release(memory: Buffer): void {
    if (memory.length === CHUNK_BYTES) this.#pool.give(memory)
    else freeBytes(memory)
  }
}
