import { Buffer } from 'node:buffer'
import { smaller, type VersionWrites, type Write } from '@ledger-state/core'
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
  SCANNED_KEYS,
  type ScanRow,
  SIZES_OF_VERSIONS,
  type SizeRow,
  scanEndOnCitus,
  scanOnCitus,
  scanQuestion,
  WRITES_OF_VERSIONS,
  type WriteRow,
} from './questions.js'
import { expectNotCut, type ServerAnswer, type Servers } from './servers.js'

// A page ends at its limit of items, or with the item that reaches its limit of bytes.
const PAGE_ITEMS = 1_000
const PAGE_BYTES = 4 * 1024 * 1024
const GREATEST = 2n ** 63n - 1n
/** Keys that a page of a scan on Citus looks at: for each, every shard sends as many to the coordinator. */
const KEYS_PER_ENTRY = 2
const LEAST_KEYS = 1_024

/**
 * Reads a page of a scan. It ends at its limits of entries and bytes, or after a few thousand keys, most of which the
 * version may lack.
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
  const isSharded = (await servers.shards()) !== undefined
  const find = isSharded ? findOnCitus : findRows
  const { answer, end } = await find(servers, {
    range: [from, headOf(from), prefix].map(toBuffer),
    bound: firstAfterPrefix(headOf(prefix)),
    limits: [String(version), String(most + 1), String(PAGE_BYTES)],
    keys: Math.max(KEYS_PER_ENTRY * most, LEAST_KEYS),
    version,
    ledger,
  })
  expectNotCut(version, ledger, answer)
  const { rows, oldestVersion } = answer
  if (version < oldestVersion) throw versionPruned(version, oldestVersion)
  const read = rows.slice(0, most)
  const found = read.filter(({ length }) => length !== null)
  const loaded = isSharded ? await load(found.map(({ key }) => key)) : []
  const entries = found.map(({ key, version: written, value }, at) => ({
    key,
    version: BigInt(written!),
    ...(value ? storedToValue(value) : entryToValue(loaded[at]!)),
  }))
  const isCut = Number(rows[0]?.read_count ?? 0) > read.length
  const last = isCut ? read.at(-1)?.key : end
  return { entries, next: last && entries.length < limit ? keyAfter(last) : undefined }
}

type FoundRow = ScanRow & Record<string, unknown>

interface ScanQuestion {
  /** Start, its head, and the prefix. */
  readonly range: readonly Buffer[]
  /** First head after those of the prefix. */
  readonly bound: Buffer | undefined
  /** Version, most rows and most bytes. */
  readonly limits: readonly string[]
  /** Most keys that a page on Citus looks at. */
  readonly keys: number
  readonly version: bigint
  readonly ledger: LedgerSummary
}

interface FoundRows {
  readonly answer: ServerAnswer<FoundRow>
  /** The last key that the page looked at; undefined if no key of the scan follows. */
  readonly end: Buffer | undefined
}

async function findRows(servers: Servers, { range, bound, limits, version, ledger }: ScanQuestion): Promise<FoundRows> {
  const answer = await servers.ask<FoundRow>({
    name: bound ? 'scan below' : 'scan',
    text: scanQuestion(bound !== undefined),
    values: [...range, ...limits, ...(bound ? [bound] : [])],
    version,
    ledger,
  })
  return { answer, end: answer.rows.find(({ place }) => Number(place) === SCANNED_KEYS)?.key }
}

async function findOnCitus(servers: Servers, question: ScanQuestion): Promise<FoundRows> {
  const { range, bound, limits, keys, version, ledger } = question
  const ends = await servers.ask<{ readonly key: Buffer }>({
    name: bound ? 'end of a scan below' : 'end of a scan',
    text: scanEndOnCitus(bound !== undefined),
    values: [...range, String(keys - 1), ...(bound ? [bound] : [])],
    version,
    ledger,
  })
  const end = ends.rows[0]?.key
  const before = end ? toBuffer(keyAfter(headOf(end))) : bound
  const answer = await servers.ask<FoundRow>({
    name: end ? 'scan until' : bound ? 'scan below' : 'scan',
    text: scanOnCitus(before !== undefined, end !== undefined),
    values: [...range, ...limits, ...(before ? [before] : []), ...(end ? [end] : [])],
    version,
    ledger,
  })
  return { answer, end }
}

function headOf(key: Uint8Array): Uint8Array {
  return key.subarray(0, KEY_HEAD_BYTES)
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
