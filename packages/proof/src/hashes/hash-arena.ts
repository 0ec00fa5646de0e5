import { sha3Into } from '#sha3'
import { HASH_LENGTH } from './hash-bytes.js'
import { BLOCK_LENGTH, CONSTANTS_LENGTH, JOB_LENGTH, keccakModule, ROUND_CONSTANTS } from './wasm/keccak-module.js'
import { type WebAssemblyApi, webAssembly } from './wasm/web-assembly.js'

/** How an arena hashes: two hashes at once in WebAssembly, one at a time there, or with the SHA3 of the runtime. */
export type ArenaKind = 'vectors' | 'scalar' | 'plain'

/**
 * Memory in which hashes are computed in place, hundreds in a call. Numbers are in the byte order of the machine. A job
 * is three u32 of `words`. If an arena takes two jobs at once, a job at an even place of a list and the next one must
 * not depend on each other; jobs may depend on all earlier ones.
 */
export interface HashArena {
  readonly kind: ArenaKind
  /** The memory. Its first `start` bytes are not for the caller. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly words: Uint32Array<ArrayBuffer>
  readonly start: number
  /**
   * Hashes pairs: SHA3-256 of 32 bytes at `seed`, at the first and at the second address of a job, to its third
   * address.
   * @param jobs address of the jobs, a multiple of 4
   */
  hashPairs(jobs: number, count: number, seed: number): void
  /**
   * Hashes messages that `padMessage` padded. A job is the address of a message, its number of blocks, and the address
   * of the result. It is fastest if jobs with the same number of blocks follow each other.
   */
  hashBlocks(jobs: number, count: number): void
}

/** Number of blocks of a message with its padding. */
export function blocksOf(length: number): number {
  return Math.floor(length / BLOCK_LENGTH) + 1
}

/** Bytes of a message with its padding. */
export function paddedLength(length: number): number {
  return blocksOf(length) * BLOCK_LENGTH
}

/** Writes the padding of SHA3-256 after a message. */
export function padMessage(bytes: Uint8Array, at: number, length: number): void {
  const end = at + paddedLength(length)
  bytes.fill(0, at + length, end)
  bytes[at + length] = 6
  bytes[end - 1]! |= 0x80
}

const PAGE = 65_536

/** Makes arenas. The code of WebAssembly is written and compiled once for all of them. */
export class ArenaFactory {
  readonly #kind: ArenaKind
  #compiled: { readonly module: object; readonly api: WebAssemblyApi } | undefined
  #isCompiled = false

  /** @param kind the best kind that may be used */
  constructor(kind: ArenaKind = 'vectors') {
    this.#kind = kind
  }

  /**
   * Makes an arena. Without WebAssembly, or where a policy forbids it (the content security policy of a page), it hashes
   * with the SHA3 of the runtime.
   * @param length bytes for the caller
   */
  create(length: number): HashArena {
    const size = CONSTANTS_LENGTH + length
    if (!this.#isCompiled) this.#compiled = compile(this.#kind)
    this.#isCompiled = true
    if (!this.#compiled) return plainArena(size)
    const { module, api } = this.#compiled
    const pages = Math.ceil(size / PAGE)
    const memory = new api.Memory({ initial: pages, maximum: pages })
    const { exports } = new api.Instance(module, { host: { memory } })
    return compiledArena(memory.buffer, exports)
  }
}

function compile(kind: ArenaKind): { readonly module: object; readonly api: WebAssemblyApi } | undefined {
  const api = webAssembly()
  // WebAssembly is little-endian.
  const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
  if (!api || !isLittleEndian || kind === 'plain') return undefined
  try {
    const best = keccakModule(kind === 'vectors')
    return { module: new api.Module(api.validate(best) ? best : keccakModule(false)), api }
  } catch {
    return undefined
  }
}

type Exports = Readonly<Record<string, (jobs: number, count: number, seed: number) => void>>

function compiledArena(buffer: ArrayBuffer, { pairs, blocks, pairs2, blocks2 }: Exports): HashArena {
  const bytes = new Uint8Array(buffer)
  const words = new Uint32Array(buffer)
  for (const [at, constant] of ROUND_CONSTANTS.entries()) new BigUint64Array(buffer, at * 16, 2).fill(constant)
  const runJobs = (
    one: Exports[string],
    two: Exports[string] | undefined,
    jobs: number,
    count: number,
    seed: number,
  ) => {
    const paired = two ? count - (count % 2) : 0
    if (paired > 0) two!(jobs, paired, seed)
    if (count > paired) one(jobs + paired * JOB_LENGTH, count - paired, seed)
  }
  return {
    kind: pairs2 ? 'vectors' : 'scalar',
    bytes,
    words,
    start: CONSTANTS_LENGTH,
    hashPairs: (jobs, count, seed) => runJobs(pairs!, pairs2, jobs, count, seed),
    hashBlocks(jobs, count) {
      for (let done = 0; done < count; ) {
        const first = jobs + done * JOB_LENGTH
        const blocksOfFirst = words[(first >>> 2) + 1]
        let same = 1
        while (done + same < count && words[((first + same * JOB_LENGTH) >>> 2) + 1] === blocksOfFirst) same++
        runJobs(blocks!, blocks2, first, same, 0)
        done += same
      }
    },
  }
}

function plainArena(size: number): HashArena {
  const buffer = new ArrayBuffer(Math.ceil(size / 4) * 4)
  const bytes = new Uint8Array(buffer)
  const words = new Uint32Array(buffer)
  const pair = new Uint8Array(3 * HASH_LENGTH)
  return {
    kind: 'plain',
    bytes,
    words,
    start: CONSTANTS_LENGTH,
    hashPairs(jobs, count, seed) {
      for (let job = jobs >>> 2; job < (jobs >>> 2) + 3 * count; job += 3) {
        const [left, right] = [words[job]!, words[job + 1]!]
        pair.set(bytes.subarray(seed, seed + HASH_LENGTH))
        pair.set(bytes.subarray(left, left + HASH_LENGTH), HASH_LENGTH)
        pair.set(bytes.subarray(right, right + HASH_LENGTH), 2 * HASH_LENGTH)
        sha3Into(pair, bytes, words[job + 2]!)
      }
    },
    hashBlocks(jobs, count) {
      for (let job = jobs >>> 2; job < (jobs >>> 2) + 3 * count; job += 3) {
        const message = words[job]!
        const end = message + words[job + 1]! * BLOCK_LENGTH
        sha3Into(bytes.subarray(message, endOfMessage(bytes, end)), bytes, words[job + 2]!)
      }
    },
  }
}

/** Where a message with its padding ends before the padding. */
function endOfMessage(bytes: Uint8Array, end: number): number {
  if (bytes[end - 1] === 0x86) return end - 1
  let last = end - 2
  while (bytes[last] === 0) last--
  return last
}
