import { Buffer } from 'node:buffer'
import type { VersionWrites, Write } from '@ledger-state/core'
import { keyAfter } from '@ledger-state/core/bytes'
import {
  type AsyncHistoryOptions,
  type AsyncVersionsOptions,
  type HistoryPage,
  type LedgerSummary,
  type Revision,
  type ScanOptions,
  type ScanPage,
  type StateEntry,
  type VersionsPage,
  versionPruned,
} from '@ledger-state/engine'
import {
  type AnnotatedValue,
  expectCount,
  expectObject,
  keptPage,
  storedToValue,
  toHistoryRange,
  toScanRange,
} from '@ledger-state/engine/authoring'
import { hashKey } from '../schema/key-hash.js'
import { KEY_HEAD_BYTES } from '../schema/schema.js'
import {
  BLOCKS_BETWEEN,
  type BlockRow,
  type HistoryRow,
  historyQuestion,
  type ScanRow,
  SIZES_OF_VERSIONS,
  type SizeRow,
  scanQuestion,
  WRITES_OF_VERSIONS,
  type WriteRow,
} from './questions.js'
import { expectNotCut, type Servers } from './servers.js'

// A page ends at its limit of items, or with the item that reaches its limit of bytes.
const PAGE_ITEMS = 1_000
const PAGE_BYTES = 4 * 1024 * 1024
const GREATEST = 2n ** 63n - 1n

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/**
 * Reads a page of a scan.
 * @param load looks up the keys whose values the statement leaves out, at the version of the scan
 */
export async function scanPage(
  servers: Servers,
  load: (keys: readonly Uint8Array[]) => Promise<readonly (StateEntry | undefined)[]>,
  { ledger, version, prefix, options }: Scan,
): Promise<ScanPage> {
  const { start, limit } = toScanRange(prefix, options)
  const from = Buffer.compare(start, prefix) < 0 ? prefix : start
  const most = Math.min(limit, PAGE_ITEMS)
  const bound = firstAfterPrefix(prefix.subarray(0, KEY_HEAD_BYTES))
  const values = [String(version), toBuffer(from), toBuffer(from.subarray(0, KEY_HEAD_BYTES)), toBuffer(prefix)]
  const isSharded = (await servers.shards()) !== undefined
  const answer = await servers.ask<ScanRow & Record<string, unknown>>({
    name: bound ? 'scan below' : 'scan',
    text: scanQuestion(bound !== undefined, !isSharded),
    values: [...values, String(most + 1), String(PAGE_BYTES), ...(bound ? [bound] : [])],
    version,
    ledger,
  })
  expectNotCut(version, ledger, answer)
  const { rows, oldestVersion } = answer
  if (version < oldestVersion) throw versionPruned(version, oldestVersion)
  const read = rows.slice(0, most)
  const loaded = isSharded ? await load(read.map(({ key }) => key)) : []
  const entries = read.map(({ key, version: written, value }, at) => ({
    key,
    version: BigInt(written),
    ...(value ? storedToValue(value) : entryToValue(loaded[at]!)),
  }))
  const isCut = Number(rows[0]?.read_count ?? 0) > entries.length
  const last = entries.at(-1)
  return { entries, next: isCut && last && entries.length < limit ? keyAfter(last.key) : undefined }
}

interface Scan {
  readonly ledger: LedgerSummary
  readonly version: bigint
  readonly prefix: Uint8Array
  readonly options: ScanOptions | undefined
}

/** First byte string above all that begin with a prefix; undefined if there is none. */
function firstAfterPrefix(prefix: Uint8Array): Buffer | undefined {
  const last = prefix.findLastIndex((byte) => byte < 255)
  if (last < 0) return undefined
  const bound = Buffer.from(prefix.subarray(0, last + 1))
  bound[last]!++
  return bound
}

export async function historyPage(
  servers: Servers,
  ledger: LedgerSummary,
  key: Uint8Array,
  options: AsyncHistoryOptions | undefined,
): Promise<HistoryPage> {
  const { limit = PAGE_ITEMS, ...range } = options ?? {}
  const { first, last = ledger.latestVersion, isNewestFirst } = toHistoryRange(key, range)
  expectCount('the limit of the history', limit, 1)
  const end = smaller(last, ledger.latestVersion)
  if (first > end) return { revisions: [], next: undefined }
  const most = Math.min(limit, PAGE_ITEMS)
  const answer = await servers.ask<HistoryRow & Record<string, unknown>>({
    name: isNewestFirst ? 'history, newest first' : 'history, oldest first',
    text: historyQuestion(isNewestFirst),
    values: [
      hashKey(key),
      String(smaller(first, GREATEST)),
      String(end),
      String(ledger.oldestVersion),
      String(most + 1),
      String(PAGE_BYTES),
    ],
    version: end,
    ledger,
  })
  expectNotCut(end, ledger, answer)
  const { rows, oldestVersion } = answer
  const revisions = rows
    .slice(0, most)
    .map(
      ({ version, value }): Revision =>
        value ? { version: BigInt(version), ...storedToValue(value) } : { version: BigInt(version), value },
    )
  const isCut = Number(rows[0]?.read_count ?? 0) > revisions.length
  const step = { first, isNewestFirst, from: isNewestFirst ? end : first }
  return keptPage(revisions, isCut, step, ledger, { oldestVersion })
}

/**
 * Reads a page of the writes of versions. All of the versions must be above the oldest of the ledger, and none above
 * its latest.
 */
export async function versionsPage(
  servers: Servers,
  ledger: LedgerSummary,
  { first, last }: { readonly first: bigint; readonly last: bigint },
  options: AsyncVersionsOptions = {},
): Promise<VersionsPage> {
  expectObject('the options of the versions', options)
  const { limit = PAGE_ITEMS } = options
  expectCount('the limit of the versions', limit, 1)
  const end = await endOfPage(servers, ledger, first, smaller(last, first + BigInt(Math.min(limit, PAGE_ITEMS)) - 1n))
  const values = [String(first), String(end)]
  const question = { values, version: end, ledger }
  const [writes, blocks] = await Promise.all([
    servers.ask<WriteRow & Record<string, unknown>>({ ...question, name: 'writes', text: WRITES_OF_VERSIONS }),
    servers.ask<BlockRow & Record<string, unknown>>({ ...question, name: 'blocks between', text: BLOCKS_BETWEEN }),
  ])
  for (const answer of [writes, blocks]) {
    expectNotCut(last, ledger, answer)
    const { oldestVersion } = answer
    if (first <= oldestVersion) throw versionPruned(first, oldestVersion)
  }
  const begun = new Map(blocks.rows.map((row) => [row.first_version, row]))
  const written = Map.groupBy(writes.rows, ({ version }) => version)
  const versions: VersionWrites[] = []
  for (let version = first; version <= end; version++) {
    const row = begun.get(String(version))
    versions.push({
      version,
      block: row && {
        height: BigInt(row.height),
        epoch: BigInt(row.epoch),
        timestampUsec: BigInt(row.timestamp_usec),
      },
      writes: (written.get(String(version)) ?? []).map(rowToWrite),
    })
  }
  return { versions, next: end < last ? end + 1n : undefined }
}

function rowToWrite({ key, value: stored }: WriteRow): Write {
  if (!stored) return [key, null]
  const { value, annotation } = storedToValue(stored)
  return annotation ? [key, value, annotation] : [key, value]
}

function entryToValue({ value, annotation }: StateEntry): AnnotatedValue {
  return annotation ? { value, annotation } : { value }
}

/** Last version whose writes fit into a page together with those before it; at least `first`. */
async function endOfPage(servers: Servers, ledger: LedgerSummary, first: bigint, last: bigint): Promise<bigint> {
  const most = 10 * PAGE_ITEMS
  const { rows } = await servers.ask<SizeRow & Record<string, unknown>>({
    name: 'sizes',
    text: SIZES_OF_VERSIONS,
    values: [String(first), String(last), String(most)],
    version: last,
    ledger,
  })
  let writes = 0
  let bytes = 0
  for (const row of rows) {
    writes += Number(row.writes)
    bytes += Number(row.bytes)
    const version = BigInt(row.version)
    // The last version that was read may have further writes.
    if (writes >= most || bytes > PAGE_BYTES) return version > first ? version - 1n : first
  }
  return last
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
