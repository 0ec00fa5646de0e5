import { Buffer } from 'node:buffer'
import type { Random } from '@ledger-state/testing/random'

/** A write of a key: version, less the first, and value; null for a deletion. */
export type ModelWrite = readonly [version: number, value: Uint8Array | null]

/** Writes by key, in the order of versions: the answers that one segment, or several together, must give. */
export type Model = ReadonlyMap<string, { readonly key: Uint8Array; readonly writes: readonly ModelWrite[] }>

export interface ModelOptions {
  readonly keys: number
  readonly versions: number
  /** Writes of each version, at most. */
  readonly writes: number
  /** Whether some keys have up to 65,536 bytes, and some values 100 kB. */
  readonly hasLong?: boolean
}

/** Makes random writes: some keys are written in most versions, most of them rarely, and many values differ little. */
export function makeModel(random: Random, { keys, versions, writes, hasLong = true }: ModelOptions): Model {
  const names = Array.from({ length: keys }, () => makeKey(random, hasLong))
  const model = new Map<string, { key: Uint8Array; writes: ModelWrite[] }>()
  for (let version = 0; version < versions; version++) {
    for (let left = random.below(writes + 1); left > 0; left--) {
      const key = names[random.below(2) === 0 ? random.below(Math.min(5, keys)) : random.below(keys)]!
      const text = Buffer.from(key).toString('latin1')
      const known = model.get(text) ?? { key, writes: [] }
      model.set(text, known)
      if (known.writes.at(-1)?.[0] === version) continue
      known.writes.push([version, makeValue(random, known.writes.at(-1)?.[1] ?? null, hasLong)])
    }
  }
  return model
}

/** The keys of a model in order. */
export function sortedModel(model: Model): { readonly key: Uint8Array; readonly writes: readonly ModelWrite[] }[] {
  return [...model.values()].sort((a, b) => Buffer.compare(a.key, b.key))
}

function makeKey(random: Random, hasLong: boolean): Uint8Array {
  const isLong = hasLong && random.below(60) === 0
  const length = isLong ? random.pick([1_900, 9_000, 65_536]) : 1 + random.below(40)
  // Many keys have a common beginning, and some are the beginning of others.
  const key = Buffer.alloc(length, random.below(2))
  for (let at = 0; at < Math.min(length, 6); at++) if (random.below(2) === 0) key[at] = random.below(256)
  if (random.below(2) === 0) key[length - 1] = random.below(256)
  return key
}

function makeValue(random: Random, before: Uint8Array | null, hasLong: boolean): Uint8Array | null {
  if (random.below(15) === 0) return null
  if (before && random.below(2) === 0) {
    const changed = Buffer.from(before)
    for (let left = random.below(4); left > 0 && changed.length > 0; left--) {
      changed[random.below(changed.length)] = random.below(256)
    }
    return changed
  }
  if (hasLong && random.below(100) === 0) return Buffer.alloc(random.pick([8_192, 20_000, 100_000]), random.below(256))
  return Buffer.from(random.bytes(random.below(3) === 0 ? random.below(3) : random.below(300)))
}

/** The newest write at or below a version. */
export function newestAtMost(writes: readonly ModelWrite[], version: number): ModelWrite | undefined {
  return writes.findLast(([written]) => written <= version)
}
