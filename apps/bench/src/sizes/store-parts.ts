import { join } from 'node:path'
import { STORE_FILE } from '@ledger-state/state-engine'
import { type Database, open } from 'lmdb'

// Sizes in bytes of a page and of its header. The parts of a closed store are found by the layout of docs/storage.md.

const PAGE = { bytes: 4_096, header: 16 }
/**
 * Bytes that LMDB adds to an entry on a leaf: its place in the page, and lengths and flags before it. Entries have even
 * lengths.
 */
const ENTRY_BYTES = 2 + 8
const FENCE_BYTES = 15
const CHECKSUM_BYTES = 4
/** Bytes of flags, number of fences, version and checksum. */
const LATEST_BYTES = 10 + CHECKSUM_BYTES
const CHUNK = 0
const TRANSPOSED = 128
/** Most pairs in the chunks of each class. */
const PAIR_CLASSES = [1, 3, 7, 15, 63, 255]
/** Options with which the engine opens the database. Without them, records would be read as they are stored. */
const COMPRESSION = { threshold: 300, dictionary: Buffer.alloc(0) }

/** Bytes of a store by their kinds. */
export type Parts = Readonly<Record<string, number>>

export interface ChunkClass {
  readonly title: string
  readonly records: number
  readonly pairs: number
  readonly bytesBeforeCompression: number
}

export interface StoreParts {
  readonly latest: Parts
  readonly historyLog: Parts
  readonly chunks: readonly ChunkClass[]
}

interface PageCounts {
  readonly treeLeafPageCount: number
  readonly treeBranchPageCount: number
  readonly overflowPages: number
}

export async function storeParts(path: string): Promise<StoreParts> {
  const file = join(path, STORE_FILE)
  const root = open({
    path: file,
    noSubdir: true,
    readOnly: true,
    maxDbs: 8,
    encoding: 'binary',
    keyEncoding: 'binary',
  })
  const table = (name: string, more: object = {}) =>
    root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary', ...more })
  try {
    const latest = partsOfLatest(table('latest'))
    const historyLog = partsOfHistoryLog(table('history-log'))
    return { latest, historyLog, chunks: classesOf(table('history-log', { compression: COMPRESSION })) }
  } finally {
    await root.close()
  }
}

function partsOfLatest(latest: Database<Buffer, Buffer>): Parts {
  const sums = { keys: 0, values: 0, fences: 0, records: 0, entries: 0 }
  for (const { key, value } of latest.getRange({})) {
    const fences = FENCE_BYTES * value[1]!
    sums.keys += key.length
    sums.values += value.length - LATEST_BYTES - fences
    sums.fences += fences
    sums.records += LATEST_BYTES
    sums.entries += entryBytes(key, value)
  }
  return {
    keys: sums.keys,
    'values and annotations': sums.values,
    fences: sums.fences,
    'versions, flags, checksums': sums.records,
    ...pageParts(latest, sums.entries, sums.keys + sums.values + sums.fences + sums.records),
  }
}

function partsOfHistoryLog(historyLog: Database<Buffer, Buffer>): Parts {
  let content = 0
  let entries = 0
  for (const { key, value } of historyLog.getRange({})) {
    content += value.length
    // A record above half of a page has separate pages, which are counted as such.
    if (entryBytes(key, value) <= PAGE.bytes / 2) entries += entryBytes(key, value)
    else content -= value.length
  }
  return { 'records as stored': content, ...pageParts(historyLog, entries, content) }
}

/** Bytes that are not content: of the entries, of their pages, and of whole pages. */
function pageParts(table: Database<Buffer, Buffer>, entries: number, content: number): Parts {
  const { treeLeafPageCount, treeBranchPageCount, overflowPages } = table.getStats() as PageCounts
  return {
    'what LMDB adds to entries': entries - content,
    'free in leaf pages': treeLeafPageCount * PAGE.bytes - entries,
    'inner pages': treeBranchPageCount * PAGE.bytes,
    'pages of long records': overflowPages * PAGE.bytes,
  }
}

function entryBytes(key: Buffer, value: Buffer): number {
  const length = ENTRY_BYTES + key.length + value.length
  return length + (length & 1)
}

function classesOf(historyLog: Database<Buffer, Buffer>): ChunkClass[] {
  const classes = new Map<string, { records: number; pairs: number; bytesBeforeCompression: number }>()
  for (const { value } of historyLog.getRange({})) {
    const title = classOf(value)
    const one = classes.get(title) ?? { records: 0, pairs: 0, bytesBeforeCompression: 0 }
    one.records++
    one.pairs += value[1]!
    one.bytesBeforeCompression += value.length
    classes.set(title, one)
  }
  return [...classes].map(([title, sums]) => ({ title, ...sums })).sort((a, b) => (a.title < b.title ? -1 : 1))
}

function classOf(record: Buffer): string {
  const [kind, count] = [record[0]!, record[1]!]
  if (kind !== CHUNK && kind !== TRANSPOSED) return 'nodes of fences'
  const most = PAIR_CLASSES.find((upTo) => count <= upTo)!
  return `${kind === TRANSPOSED ? 'transposed' : 'plain'} chunks, up to ${String(most).padStart(3)} pairs`
}
