import { blocksOf, type HashArena, paddedLength, padMessage } from './hash-arena.js'
import { HASH_LENGTH } from './hash-bytes.js'
import type { HashName, LedgerHasher } from './ledger-hasher.js'
import { BLOCK_LENGTH, JOB_LENGTH } from './wasm/keccak-module.js'

/** Messages with more blocks than this are hashed one at a time. */
const MOST_PAIRED_BLOCKS = 8

/**
 * Hashes many messages at once: two at a time if they have the same number of blocks. `begin`, any number of `put` and
 * `end` add a message; `flush` computes the hashes of all of them.
 */
export class HashBatch {
  readonly #hasher: LedgerHasher
  #arena: HashArena
  /** Where messages begin, and where the next one goes. */
  #first: number
  #at: number
  #messageAt = 0
  /** For each message: its address and the number of its blocks. */
  #messages = new Uint32Array(256)
  #count = 0

  /** @param length bytes of messages for which memory is made at once */
  constructor(hasher: LedgerHasher, length: number = 2 ** 16) {
    this.#hasher = hasher
    this.#arena = hasher.createArena(length)
    this.#first = this.#arena.start
    this.#at = this.#first
  }

  /** Number of messages since the last `clear`. */
  get count(): number {
    return this.#count
  }

  /** Begins a message. */
  begin(name: HashName): void {
    this.#messageAt = this.#at
    this.put(this.#hasher.seed(name))
  }

  /** Adds bytes to the message. */
  put(bytes: Uint8Array): void {
    const end = this.#at + bytes.length
    this.#reserve(end + BLOCK_LENGTH)
    this.#arena.bytes.set(bytes, this.#at)
    this.#at = end
  }

  /** Adds a byte to the message. */
  putByte(byte: number): void {
    this.#reserve(this.#at + 1 + BLOCK_LENGTH)
    this.#arena.bytes[this.#at++] = byte
  }

  /** Ends the message. */
  end(): void {
    const length = this.#at - this.#messageAt
    padMessage(this.#arena.bytes, this.#messageAt, length)
    if (2 * this.#count === this.#messages.length) {
      const messages = new Uint32Array(2 * this.#messages.length)
      messages.set(this.#messages)
      this.#messages = messages
    }
    this.#messages[2 * this.#count] = this.#messageAt
    this.#messages[2 * this.#count + 1] = blocksOf(length)
    this.#count++
    this.#at = this.#messageAt + paddedLength(length)
  }

  /** Computes the hashes of all messages: 32 bytes each, in their order, until `clear` or the next message. */
  flush(): Uint8Array {
    const results = Math.ceil(this.#at / 4) * 4
    const jobs = results + this.#count * HASH_LENGTH
    this.#reserve(jobs + this.#count * JOB_LENGTH)
    this.#arena.hashBlocks(jobs, this.#writeJobs(jobs, results))
    return this.#arena.bytes.subarray(results, jobs)
  }

  /** Forgets all messages. */
  clear(): void {
    this.#at = this.#first
    this.#count = 0
  }

  /** Writes the jobs in the order of their number of blocks. */
  #writeJobs(jobs: number, results: number): number {
    const { words } = this.#arena
    const messages = this.#messages
    const starts = new Uint32Array(MOST_PAIRED_BLOCKS + 2)
    const classOf = (message: number) => Math.min(messages[2 * message + 1]!, MOST_PAIRED_BLOCKS + 1)
    for (let message = 0; message < this.#count; message++) starts[classOf(message)]!++
    let before = 0
    for (let one = 0; one < starts.length; one++) {
      const count = starts[one]!
      starts[one] = before
      before += count
    }
    for (let message = 0; message < this.#count; message++) {
      const job = (jobs >>> 2) + 3 * starts[classOf(message)]!++
      words[job] = messages[2 * message]!
      words[job + 1] = messages[2 * message + 1]!
      words[job + 2] = results + message * HASH_LENGTH
    }
    return this.#count
  }

  #reserve(end: number): void {
    const { bytes, start } = this.#arena
    if (end <= bytes.length) return
    const larger = this.#hasher.createArena(Math.max(end, 2 * bytes.length) - start)
    larger.bytes.set(bytes.subarray(start, this.#at), start)
    this.#arena = larger
  }
}
