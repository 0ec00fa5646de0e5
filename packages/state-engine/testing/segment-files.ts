import { Buffer } from 'node:buffer'
import { KeyHash } from '../src/memtable/key-hash.ts'
import { BlockCache } from '../src/segments/block-cache.ts'
import { DELETED } from '../src/segments/entry-reader.ts'
import type { SegmentIdentity } from '../src/segments/format.ts'
import { KeyProbe } from '../src/segments/key-filter.ts'
import { SegmentReader } from '../src/segments/segment-reader.ts'
import { SegmentWriter, type SegmentWriterOptions, type WrittenSegment } from '../src/segments/segment-writer.ts'
import type { VerifyEpochs } from '../src/segments/verify-epochs.ts'
import { type Model, sortedModel } from './random-writes.ts'

export const HASH_SEED = Buffer.from('a secret')
export const FIRST_VERSION = 2n ** 40n

export function identityOf(versions: number, more: Partial<SegmentIdentity> = {}): SegmentIdentity {
  const lastVersion = FIRST_VERSION + BigInt(versions - 1)
  const range = { firstVersion: FIRST_VERSION, lastVersion }
  return { storeId: 7n, ...range, hashSeed: HASH_SEED, level: 0, isBase: false, ...more }
}

export function segmentProbe(): KeyProbe {
  return new KeyProbe(new KeyHash(HASH_SEED))
}

/** Writes the writes of a model whose versions, less the first of the file, are from `from` to `to`. */
export function writeSegment(
  path: string,
  model: Model,
  from: number,
  to: number,
  options: SegmentWriterOptions & { readonly identity?: SegmentIdentity } = {},
): WrittenSegment {
  const firstVersion = FIRST_VERSION + BigInt(from)
  const identity = options.identity ?? identityOf(0, { firstVersion, lastVersion: FIRST_VERSION + BigInt(to) })
  const writer = new SegmentWriter(path, identity, { isDurable: false, ...options })
  for (const { key, writes } of sortedModel(model)) {
    const own = writes.filter(([version]) => version >= from && version <= to)
    if (own.length > 0) writer.beginKey(key, 0, key.length)
    for (const [version, value] of own) {
      writer.add(version - from, value ?? Buffer.of(), 0, value ? value.length : DELETED)
    }
  }
  for (let version = from; version <= to; version += 3) {
    const height = BigInt(version)
    writer.addBlock({
      firstVersion: FIRST_VERSION + height,
      block: { height, epoch: 1n, timestampUsec: height * 10n },
    })
  }
  return writer.finish()
}

/** Ways to read a file: through the map, with a cache that has all of it, and with one that has a few blocks or none. */
export const READ_WAYS = [
  ['mapped', true, 2 ** 26],
  ['with a cache', false, 2 ** 26],
  ['with a small cache', false, 30_000],
  ['without a cache', false, 0],
] as const

export function openSegment(
  path: string,
  isMapped: boolean,
  cacheBytes = 2 ** 26,
  epochs?: VerifyEpochs,
): SegmentReader {
  return new SegmentReader(path, { cache: new BlockCache(cacheBytes), isMapped, epochs })
}
