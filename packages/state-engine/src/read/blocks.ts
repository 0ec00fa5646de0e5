import type { BlockInfo } from '@ledger-state/core'
import type { Block } from '@ledger-state/engine'
import { type BlockEntry, storeCorrupt } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { type ListedBlocks, newestListAtMost, nextListAbove } from '../records/block-lists.js'
import { newestSegmentBlock, nextSegmentBlock } from './merged-blocks.js'
import type { ReadSnapshot } from './read-snapshot.js'

/** Finds the block that a version of the window belongs to. */
export function blockWith(store: LmdbStore, snapshot: ReadSnapshot, version: bigint): Block {
  const { latestVersion } = snapshot.ledger!
  const merged = snapshot.record!.ledger.latestVersion
  const inMemtable = version > merged ? newestInMemtable(snapshot, version) : undefined
  if (store.segments) return blockInSegments(snapshot, version, inMemtable)
  const list = inMemtable ? undefined : newestListAtMost(store, version, snapshot.options)
  const count = list ? list.countAtMost(version) : 0
  const found = inMemtable ?? list?.at(count - 1)
  if (!found) throw storeCorrupt(`no block has version ${version}`)
  if (version === latestVersion) return { ...found, lastVersion: version }
  let next = list && count < list.count ? list.versionAt(count) : undefined
  if (next === undefined && version < merged) next = nextListAbove(store, version, snapshot.options)
  next ??= nextInMemtable(snapshot, version)
  // The memtable may be ahead of the snapshot, and may have blocks that a truncation has not removed yet.
  const lastVersion = next !== undefined && next <= latestVersion ? next - 1n : latestVersion
  return { ...found, lastVersion }
}

function blockInSegments(snapshot: ReadSnapshot, version: bigint, inMemtable: BlockEntry | undefined): Block {
  const { slices, ledger } = snapshot
  const { latestVersion } = ledger!
  const found = inMemtable ?? newestSegmentBlock(slices, version)
  if (!found) throw storeCorrupt(`no block has version ${version}`)
  if (version === latestVersion) return { ...found, lastVersion: version }
  const next = (inMemtable ? undefined : nextSegmentBlock(slices, version)) ?? nextInMemtable(snapshot, version)
  const lastVersion = next !== undefined && next <= latestVersion ? next - 1n : latestVersion
  return { ...found, lastVersion }
}

/** Finds out which versions begin a block. Versions in ascending order cost one read for each list. */
export class BlockStarts {
  readonly #store: LmdbStore
  #snapshot: ReadSnapshot | undefined
  #list: ListedBlocks | undefined
  /** Version before which no further list begins. */
  #end = 0n

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** The block that begins with a version; undefined if none does. */
  at(version: bigint, snapshot: ReadSnapshot): BlockInfo | undefined {
    if (version > snapshot.record!.ledger.latestVersion) {
      const inMemtable = newestInMemtable(snapshot, version)
      return inMemtable?.firstVersion === version ? inMemtable.block : undefined
    }
    if (this.#store.segments) {
      const found = newestSegmentBlock(snapshot.slices, version)
      return found?.firstVersion === version ? found.block : undefined
    }
    if (snapshot !== this.#snapshot || !this.#list || version < this.#list.firstVersion || version >= this.#end) {
      this.#load(version, snapshot)
    }
    const list = this.#list
    if (!list) return undefined
    const place = list.countAtMost(version) - 1
    return list.versionAt(place) === version ? list.at(place).block : undefined
  }

  #load(version: bigint, snapshot: ReadSnapshot): void {
    const list = newestListAtMost(this.#store, version, snapshot.options)
    this.#snapshot = snapshot
    this.#list = list
    if (!list) return
    const newest = list.versionAt(list.count - 1)
    if (version <= newest) this.#end = newest + 1n
    else this.#end = nextListAbove(this.#store, version, snapshot.options) ?? snapshot.record!.ledger.latestVersion + 1n
  }
}

function newestInMemtable({ memtable }: ReadSnapshot, version: bigint): BlockEntry | undefined {
  for (let at = memtable.segments.length - 1; at >= 0; at--) {
    const found = memtable.segments[at]!.blocks.newestAtMost(version)
    if (found) return found
  }
  return undefined
}

/** First version of the next block of the memtable above a version. */
function nextInMemtable({ memtable }: ReadSnapshot, version: bigint): bigint | undefined {
  for (const { blocks } of memtable.segments) {
    const found = blocks.oldestAbove(version)
    if (found) return found.firstVersion
  }
  return undefined
}
