import type { Block, BlockInfo } from '@ledger-state/core'
import { numberedKeyVersion, versionKey } from '../bytes/numbered-key.js'
import { decodeBlock } from '../databases/ledger-record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { BlockEntry } from '../memory-table/block-list.js'
import type { ReadSnapshot } from './read-snapshot.js'

/** The block that a version of the window belongs to. */
export function blockWith(store: LmdbStore, snapshot: ReadSnapshot, version: bigint): Block {
  const { latestVersion } = snapshot.ledger!
  const found = newestInTable(snapshot, version) ?? newestMerged(store, snapshot, version)!
  if (version === latestVersion) return { ...found, lastVersion: version }
  const next = nextMerged(store, snapshot, version) ?? nextInTable(snapshot, version)
  // The table may be ahead of the snapshot.
  const lastVersion = next !== undefined && next <= latestVersion ? next - 1n : latestVersion
  return { ...found, lastVersion }
}

/** The block that begins with a version. */
export function blockStartingAt(store: LmdbStore, snapshot: ReadSnapshot, version: bigint): BlockInfo | undefined {
  const inTable = newestInTable(snapshot, version)
  if (inTable) return inTable.firstVersion === version ? inTable.block : undefined
  const key = versionKey(version, 0)
  const bytes = store.blocks.getBinary(key, snapshot.options)
  return bytes && decodeBlock(key, bytes)
}

function newestInTable({ table }: ReadSnapshot, version: bigint): BlockEntry | undefined {
  for (let at = table.segments.length - 1; at >= 0; at--) {
    const found = table.segments[at]!.blocks.newestAtMost(version)
    if (found) return found
  }
  return undefined
}

/** Where the first block above a version begins. */
function nextInTable({ table }: ReadSnapshot, version: bigint): bigint | undefined {
  for (const { blocks } of table.segments) {
    const found = blocks.oldestAbove(version)
    if (found) return found.firstVersion
  }
  return undefined
}

function newestMerged({ blocks }: LmdbStore, { options }: ReadSnapshot, version: bigint): BlockEntry | undefined {
  const start = versionKey(version, 0)
  const [found] = blocks.getRange({ start, end: undefined, reverse: true, limit: 1, ...options })
  return found && { firstVersion: numberedKeyVersion(found.key), block: decodeBlock(found.key, found.value) }
}

function nextMerged(store: LmdbStore, { options, record }: ReadSnapshot, version: bigint): bigint | undefined {
  if (version >= record!.ledger.latestVersion) return undefined
  const start = versionKey(version + 1n, 0)
  const [next] = store.blocks.getKeys({ start, end: undefined, limit: 1, ...options })
  return next && numberedKeyVersion(next)
}
