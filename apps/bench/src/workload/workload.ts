// Data that suites write to the engine and its peers, and questions that they ask: state like the state of chains, made
// from a seed.
import { createRandom, type Random } from '@ledger-state/testing/random'

export interface WorkloadClass {
  readonly name: string
  readonly firstKey: number
  readonly keys: number
}

export interface WorkloadDepth extends WorkloadClass {
  /** How many times each key is written. */
  readonly depth: number
}

export interface WorkloadVersion {
  readonly version: bigint
  readonly block: { readonly height: bigint; readonly epoch: bigint; readonly timestampUsec: bigint } | undefined
  readonly writes: (readonly [key: Uint8Array, value: Uint8Array | null])[]
}

export interface Question {
  readonly key: Uint8Array
  readonly version: bigint
}

/**
 * Frequency with which keys are asked for: all equally often, a few much more often than others, or each as often as it
 * is written.
 */
export type Access = 'uniform' | 'Zipf' | 'as written'

export interface Workload {
  readonly keys: number
  readonly seed: number
  /** Text that is equal for two workloads that write the same. */
  readonly fingerprint: string
  readonly classes: readonly WorkloadDepth[]
  readonly writes: number
  readonly versions: number
  readonly latestVersion: bigint
  key(at: number): Uint8Array
  /** All versions in order, in batches. */
  batches(): Iterable<WorkloadVersion[]>
  /** Class of all keys. */
  readonly mixed: WorkloadClass
  /** Questions, each at a random version. */
  questions(of: WorkloadClass, count: number, access?: Access): Question[]
  /** Questions, each at the version before the newest write of its key, so that the answer was superseded last. */
  justSuperseded(of: WorkloadClass, count: number): Question[]
  /** Questions for keys of any class with a deletion as the newest write, at the latest version. */
  deleted(count: number): Question[]
  /** Keys that are never written. */
  absentKeys(count: number): Uint8Array[]
}

/**
 * Number that is part of the fingerprint. Raise it with every change of the written data, so that kept stores are
 * filled again.
 */
const FORMAT = 1
const WRITES_PER_VERSION = 5
export const VERSIONS_PER_BATCH = 1_000
export const VERSIONS_PER_BLOCK = 20
/** Share of deletions in per cent. */
const DELETIONS = 2
/** Lengths of values in bytes; the median is 150. */
const VALUE_LENGTHS = [8, 32, 60, 100, 140, 150, 150, 180, 220, 300, 600, 3_000]
/** One value in this many is as long as a compiled module. */
const LONG_VALUE_EVERY = 5_000
const LONG_VALUE_LENGTHS = [10_000, 30_000, 100_000]
/** Bytes of content. Values are slices of it at random places: a compressor finds no repetition within a block. */
const CONTENT_BYTES = 4_000_000
/** One key in this many is as long as the keys of deeply generic types. */
const LONG_KEY_EVERY = 1_000
const LONG_KEY_LENGTH = 5_000

/**
 * Creates a workload. Most keys have 33 to 150 bytes. Most are written once or ten times, and a few thousands of times.
 */
export function createWorkload(keys: number, seed: number): Workload {
  const randomOf = (use: number) => createRandom(use + 100 * seed)
  const classes = classesOf(keys)
  let shuffled: Uint32Array | undefined
  const writeCount = classes.reduce((sum, one) => sum + one.keys * one.depth, 0)
  const content = randomBytes(CONTENT_BYTES, randomOf(13))
  const versions = Math.ceil(writeCount / WRITES_PER_VERSION)

  function* batches(): Generator<WorkloadVersion[]> {
    const random = randomOf(7)
    const written = writtenKeys()
    for (let start = 0; start < versions; start += VERSIONS_PER_BATCH) {
      const count = Math.min(VERSIONS_PER_BATCH, versions - start)
      yield Array.from({ length: count }, (_, at) => version(start + at, written, random))
    }
  }

  /** The number of the key of each write, in order. */
  function writtenKeys(): Uint32Array {
    shuffled ??= shuffledWrites(classes, randomOf(3))
    return shuffled
  }

  function version(number: number, written: Uint32Array, random: Random): WorkloadVersion {
    const changed = new Set(written.subarray(number * WRITES_PER_VERSION, (number + 1) * WRITES_PER_VERSION))
    const height = BigInt(Math.floor(number / VERSIONS_PER_BLOCK))
    return {
      version: BigInt(number),
      block: number % VERSIONS_PER_BLOCK === 0 ? { height, epoch: 0n, timestampUsec: height } : undefined,
      writes: [...changed].map((key) => [keyBytes(key), drawValue(content, random)] as const),
    }
  }

  let newest: NewestWrites | undefined
  function newestWrites(): NewestWrites {
    newest ??= newestWritesOf(batches(), keys)
    return newest
  }

  return {
    keys,
    seed,
    fingerprint: `format ${FORMAT}, ${keys} keys, seed ${seed}`,
    classes,
    mixed: { name: '1 to 10,000', firstKey: 0, keys },
    writes: writeCount,
    versions,
    latestVersion: BigInt(versions - 1),
    key: keyBytes,
    batches,
    questions(of, count, access = 'uniform') {
      const random = randomOf(11)
      const draw = {
        uniform: random.below,
        Zipf: createZipf(random),
        'as written': () => writtenKeys()[random.below(writeCount)]!,
      }
      return Array.from({ length: count }, () => ({
        key: keyBytes(of.firstKey + draw[access](of.keys)),
        version: BigInt(random.below(versions)),
      }))
    },
    justSuperseded(of, count) {
      const random = randomOf(17)
      const { version } = newestWrites()
      return Array.from({ length: count }, () => {
        const key = of.firstKey + random.below(of.keys)
        return { key: keyBytes(key), version: BigInt(Math.max(0, version[key]! - 1)) }
      })
    },
    deleted(count) {
      const random = randomOf(19)
      const { deleted } = newestWrites()
      return Array.from({ length: deleted.length === 0 ? 0 : count }, () => ({
        key: keyBytes(deleted[random.below(deleted.length)]!),
        version: BigInt(versions - 1),
      }))
    },
    absentKeys: (count) => Array.from({ length: count }, (_, at) => keyBytes(keys + at)),
  }
}

/** A value from a random place of the content, or a deletion. */
function drawValue(content: Uint8Array, random: Random): Uint8Array | null {
  if (random.below(100) < DELETIONS) return null
  const lengths = random.below(LONG_VALUE_EVERY) === 0 ? LONG_VALUE_LENGTHS : VALUE_LENGTHS
  const length = lengths[random.below(lengths.length)]!
  const start = random.below(CONTENT_BYTES - length)
  return content.subarray(start, start + length)
}

interface NewestWrites {
  /** Version of the newest write of each key. */
  readonly version: Uint32Array
  /** Keys with a deletion as the newest write. */
  readonly deleted: readonly number[]
}

function newestWritesOf(batches: Iterable<readonly WorkloadVersion[]>, keys: number): NewestWrites {
  const version = new Uint32Array(keys)
  const deleted = new Set<number>()
  for (const batch of batches) {
    for (const one of batch) {
      for (const [key, value] of one.writes) {
        const at = keyNumber(key)
        version[at] = Number(one.version)
        if (value === null) deleted.add(at)
        else deleted.delete(at)
      }
    }
  }
  return { version, deleted: [...deleted] }
}

/** The classes of keys, by how often each is written. */
export function classesOf(keys: number): WorkloadDepth[] {
  const deepest = Math.min(200, Math.max(2, Math.floor(keys / 5_000)))
  const deep = Math.min(1_000, Math.max(5, Math.floor(keys / 1_000)))
  const ten = Math.floor(keys * (keys > 2_000_000 ? 0.03 : 0.3))
  const counts: readonly (readonly [string, number, number])[] = [
    ['1', keys - ten - deep - deepest, 1],
    ['10', ten, 10],
    ['1,000', deep, 1_000],
    ['10,000', deepest, 10_000],
  ]
  let firstKey = 0
  return counts.map(([name, count, depth]) => {
    const one = { name, firstKey, keys: count, depth }
    firstKey += count
    return one
  })
}

function shuffledWrites(classes: readonly WorkloadDepth[], random: Random): Uint32Array {
  const order = new Uint32Array(classes.reduce((sum, { keys, depth }) => sum + keys * depth, 0))
  let at = 0
  for (const { firstKey, keys, depth } of classes) {
    for (let key = firstKey; key < firstKey + keys; key++) {
      order.fill(key, at, at + depth)
      at += depth
    }
  }
  for (let last = order.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    const kept = order[last]!
    order[last] = order[other]!
    order[other] = kept
  }
  return order
}

/** A key like a state key: a byte for the kind, then bytes that look random. */
export function keyBytes(at: number): Uint8Array {
  const isLong = at % LONG_KEY_EVERY === LONG_KEY_EVERY - 1
  const key = Buffer.alloc(isLong ? LONG_KEY_LENGTH : 33 + ((at * 7) % 118), at & 0xff)
  key[0] = at % 3 === 0 ? 1 : 0
  key.writeUInt32LE(Math.imul(at + 1, 0x9e3779b1) >>> 0, 1)
  key.writeUInt32LE(at, 5)
  return new Uint8Array(key.buffer, key.byteOffset, key.length)
}

/** The inverse of `keyBytes`. */
function keyNumber(key: Uint8Array): number {
  return key[5]! | (key[6]! << 8) | (key[7]! << 16) | (key[8]! << 24)
}

/**
 * Draws numbers by Zipf's law with exponent 1, approximated by its continuous form: number k comes about 1/k as often
 * as number 0.
 */
function createZipf(random: Random): (below: number) => number {
  return (below) => Math.min(below - 1, Math.floor((below + 1) ** (random.below(1 << 30) / 2 ** 30)) - 1)
}

/** Random bytes, which cannot be compressed. */
function randomBytes(length: number, random: Random): Buffer {
  return Buffer.from(random.bytes(length))
}
