import { addressToShortHex, larger } from '@ledger-state/core'
import { type LedgerSummary, noLedger, type StateEntry, type StoreBase } from '@ledger-state/engine'
import { csvCell } from '@ledger-state/http/formats'
import type { AuditRecord } from '@ledger-state/ingest'
import { baseKindOf } from '@ledger-state/ledger'
import {
  type CommitMark,
  type Contradiction,
  decodeCommitMark,
  decodeRetained,
  decodeWholeTransactionsMark,
  RETAINED_KEY,
  TRANSACTION_INDEXES,
  TRANSACTIONS_KEY,
  type TransactionIndex,
  WHOLE_TRANSACTIONS_KEY,
  wholeTransactionsBegin,
} from '@ledger-state/records'
import {
  measureMember,
  OUTSIDE_OF_SLICE,
  readSliceLines,
  readSliceMembers,
  readSliceStatus,
  type SliceStatus,
} from '@ledger-state/slices'
import { type LevelStats, type LmdbEngineReader, openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { switchOption } from '../config/option.js'
import { noLedgerErrors, usageError } from '../errors.js'
import { measureStore } from '../sizing/forecast.js'
import { FORECAST_HEADINGS, forecastRow, forecastWindows } from '../sizing/sizing-rows.js'
import { auditFolder, storedAudit } from '../stores/audit-folder.js'
import { openDatabaseReader } from '../stores/open-database.js'
import { openReader } from '../stores/open-reader.js'
import { type DatabasePlace, nameOfPlace, type StorePlace, storeOptions, storePlace } from '../stores/store-place.js'
import { formatBytes, formatCount, formatCounted } from '../terminal/amounts.js'
import { describeAudit } from '../terminal/audit-text.js'
import { columns } from '../terminal/columns.js'
import { describeLeftOut, describeSlice, sliceFacts } from '../terminal/slice-rows.js'
import { describeTrustedState } from '../terminal/trusted-state.js'

const jsonOption = switchOption('json', 'print JSON; u64 values are strings')
const sliceOption = switchOption('slice', 'print the specification of a slice, in the format of --only')
const membersOption = switchOption('members', 'list the members of a slice with their keys and bytes')
const forecastOption = switchOption('forecast', 'estimate the disk space of larger windows of this ledger')

/** Options that choose the output. The first two print a list, and go with no other. */
const OUTPUT_OPTIONS = [sliceOption, membersOption, jsonOption, forecastOption]

export const infoCommand: Command = {
  name: 'info',
  summary: 'Prints facts about a store.',
  arguments: [],
  options: [...storeOptions, jsonOption, forecastOption, sliceOption, membersOption],
  details: `--forecast estimates disk, memory and the time of an ingest from the bytes that this store needs for each key and
each write; docs/sizing.md explains how. It works while a node runs, and is more accurate for a longer window.`,
  examples: [
    'ledger-state info --data-dir data/mainnet --json',
    'ledger-state info --data-dir data/mainnet --forecast',
  ],
  async run(input) {
    const place = storePlace(input, 'info')
    const [listed, ...others] = OUTPUT_OPTIONS.filter((option) => input.get(option))
    const isList = listed === sliceOption || listed === membersOption
    if (isList && others.length > 0)
      throw usageError(`--${listed.name} prints a separate list; it cannot be combined with --${others[0]!.name}`)
    if (isList) return await (listed === sliceOption ? printSlice(place) : printMembers(place))
    const isForecast = input.get(forecastOption)
    if (place.kind === 'database') {
      if (isForecast) throw usageError('--forecast counts the bytes of a folder; a store on PostgreSQL has no forecast')
      await describeDatabase(place, input.get(jsonOption))
      return
    }
    const engine = openStateEngineReader({ path: place.dataDir, verifyReads: true })
    try {
      const { ledger, base, stats, mark } = engine
      if (!ledger) throw noLedgerErrors.emptyStore(place.dataDir)
      const slice = await readSliceStatus(engine)
      if (input.get(jsonOption)) {
        const facts = {
          ...storeFacts(engine),
          ...auditFacts(storedAudit(engine, auditFolder(place.dataDir))),
          slice: slice ? sliceFacts(slice) : null,
          ...(isForecast && forecastFacts(engine)),
        }
        process.stdout.write(`${JSON.stringify(facts)}\n`)
        return
      }
      const rows = [
        ...ledgerRows(ledger, base!, mark),
        ...auditRows(storedAudit(engine, auditFolder(place.dataDir)), trustOf(ledger, mark)),
        transactionsRow(ledger, transactionsOf(engine, ledger)),
        ...sliceRows(slice),
        ['keys', formatCount(stats.keys)],
        ['history entries', formatCount(stats.historyEntries)],
        ['files', formatBytes(stats.fileBytes)],
        ...stats.levels.map(levelRow),
        ['reclaimable', formatBytes(stats.reclaimableBytes)],
        ['not merged yet', `${formatCounted(stats.memtableEntries, 'write')} (${formatBytes(stats.walBytes)})`],
      ]
      process.stdout.write(`${columns(rows)}\n`)
      if (isForecast) process.stdout.write(`\n${forecastText(engine)}\n`)
    } finally {
      await engine.close()
    }
  },
}

/** Bytes on disk of the segment files of a level. */
function levelRow({ level, files, writes, fileBytes, blockBytes, indexBytes, filterBytes }: LevelStats) {
  const each = (bytes: number) => (writes === 0 ? '0' : (bytes / writes).toFixed(1))
  const parts = `blocks ${each(blockBytes)}, index ${each(indexBytes)}, filter ${each(filterBytes)}`
  return [
    `level ${level}`,
    `${formatCounted(files, 'file')}, ${formatCounted(writes, 'write')}, ${each(fileBytes)} bytes each (${parts})`,
  ] as const
}

async function printSlice(place: StorePlace): Promise<void> {
  const engine = await openReader(place)
  try {
    const lines = await readSliceLines(engine)
    if (lines.length === 0) throw noLedgerErrors.notASlice(nameOfPlace(place))
    for (const line of lines) process.stdout.write(`${line}\n`)
  } finally {
    await engine.close()
  }
}

async function printMembers(place: StorePlace): Promise<void> {
  const engine = await openReader(place)
  try {
    const heading = 'kind,id,joined_by,since_version,known_whole,keys,bytes\n'
    let isBegun = false
    for await (const member of readSliceMembers(engine)) {
      const { kind, id, reason, since, isWhole } = member
      const { keys, bytes } = await measureMember(engine, member)
      const row = [kind, addressToShortHex(id), reason, since, isWhole, keys, bytes].map(String).map(csvCell).join()
      process.stdout.write(`${isBegun ? '' : heading}${row}\n`)
      isBegun = true
    }
    // A slice of types may have no members.
    if (isBegun) return
    if (!(await readSliceStatus(engine))) throw noLedgerErrors.notASlice(nameOfPlace(place))
    process.stdout.write(heading)
  } finally {
    await engine.close()
  }
}

function sliceRows(slice: SliceStatus | undefined): (readonly [string, string])[] {
  if (!slice) return []
  return [
    ['keeps', describeSlice(slice)],
    ['outside', OUTSIDE_OF_SLICE],
    ...(slice.leftOut ? ([['left out', describeLeftOut(slice.leftOut)]] as const) : []),
  ]
}

/** Describes a store in a database from its ledger; the server itself shows the size of its tables. */
async function describeDatabase(place: DatabasePlace, asJson: boolean): Promise<void> {
  const engine = await openDatabaseReader(place)
  try {
    const snapshot = await engine.snapshot()
    const { ledger, base, mark } = snapshot
    if (!ledger) throw noLedgerErrors.emptyStore(nameOfPlace(place))
    const kept = keptTransactions(ledger, await snapshot.at().load(TRANSACTION_MARKS))
    const slice = await readSliceStatus(engine)
    const text = asJson
      ? JSON.stringify({
          ...ledgerFacts(ledger, base!, mark),
          ...transactionsFacts(kept),
          slice: slice ? sliceFacts(slice) : null,
        })
      : columns([...ledgerRows(ledger, base!, mark), transactionsRow(ledger, kept), ...sliceRows(slice)])
    process.stdout.write(`${text}\n`)
  } finally {
    await engine.close()
  }
}

function ledgerRows(
  ledger: LedgerSummary,
  base: StoreBase,
  mark: Uint8Array | undefined,
): (readonly [string, string])[] {
  const { signed, contradicted } = trustOf(ledger, mark)
  const { latestBlock, oldestBlock } = ledger
  return [
    ['chain id', String(ledger.chainId)],
    ['versions', `${ledger.oldestVersion} to ${ledger.latestVersion}`],
    ['base', describeBase(base)],
    ['signed', signed ? `to version ${signed.version}, ${describeTrustedState(signed)}` : 'no verified signatures'],
    ...contradictedRow(contradicted),
    ['block heights', `${oldestBlock.height} to ${latestBlock.height}`],
    ['epoch', String(latestBlock.epoch)],
    ['ledger time', `${formatTime(latestBlock.timestampUsec)} (oldest ${formatTime(oldestBlock.timestampUsec)})`],
  ]
}

function levelFacts({
  level,
  files,
  writes,
  payloadBytes,
  fileBytes,
  blockBytes,
  indexBytes,
  filterBytes,
}: LevelStats) {
  return {
    level,
    files,
    writes,
    payload_bytes: payloadBytes,
    file_bytes: fileBytes,
    block_bytes: blockBytes,
    index_bytes: indexBytes,
    filter_bytes: filterBytes,
  }
}

/**
 * Facts of a store for JSON, in which u64 values are strings.
 * @throws `no_ledger` if the store is empty
 */
export function storeFacts(engine: LmdbEngineReader) {
  const { ledger, base, stats, mark } = engine
  if (!ledger) throw noLedger()
  return {
    ...ledgerFacts(ledger, base!, mark),
    ...transactionsFacts(transactionsOf(engine, ledger)),
    keys: stats.keys,
    history_entries: stats.historyEntries,
    blocks: stats.blocks,
    file_bytes: stats.fileBytes,
    levels: stats.levels.map(levelFacts),
    reclaimable_bytes: stats.reclaimableBytes,
    unmerged_writes: stats.memtableEntries,
    write_ahead_bytes: stats.walBytes,
  }
}

function ledgerFacts(ledger: LedgerSummary, base: StoreBase, mark: Uint8Array | undefined) {
  const { latestBlock, oldestBlock } = ledger
  return {
    chain_id: jsonChainId(ledger.chainId),
    ledger_version: String(ledger.latestVersion),
    oldest_ledger_version: String(ledger.oldestVersion),
    block_height: String(latestBlock.height),
    oldest_block_height: String(oldestBlock.height),
    epoch: String(latestBlock.epoch),
    ledger_timestamp_usec: String(latestBlock.timestampUsec),
    oldest_ledger_timestamp_usec: String(oldestBlock.timestampUsec),
    base: baseKindOf(base),
    base_version: String(base.version),
    ...trustFacts(trustOf(ledger, mark)),
  }
}

const NOTHING = new Uint8Array(0)

/** Keys that say which transactions a store has. */
const TRANSACTION_MARKS = [TRANSACTIONS_KEY, WHOLE_TRANSACTIONS_KEY, RETAINED_KEY] as const

/** The first versions since which a store has the transactions of all later ones; undefined if it lacks the newest. */
interface TransactionsSince {
  readonly summaries: bigint | undefined
  readonly whole: bigint | undefined
  /** Indexes of whole transactions. */
  readonly indexes: ReadonlySet<TransactionIndex>
}

function transactionsOf(engine: LmdbEngineReader, ledger: LedgerSummary): TransactionsSince {
  const view = engine.at()
  return keptTransactions(
    ledger,
    TRANSACTION_MARKS.map((key) => view.getEntry(key)),
  )
}

/** @param marks entries of `TRANSACTION_MARKS` */
function keptTransactions(
  { oldestVersion }: LedgerSummary,
  [summaries, whole, retained]: readonly (StateEntry | undefined)[],
): TransactionsSince {
  const { indexes } = decodeWholeTransactionsMark(whole?.value ?? NOTHING)
  const since = retained ? decodeRetained(retained.value).oldestVersion : oldestVersion
  const oldest = since < oldestVersion ? since : oldestVersion
  const unpruned = (begun: bigint | undefined) => (begun === undefined ? undefined : larger(begun, oldest))
  return { summaries: unpruned(summaries?.version), whole: unpruned(wholeTransactionsBegin(whole)), indexes }
}

function transactionsFacts({ summaries, whole, indexes }: TransactionsSince) {
  return {
    transactions_since: summaries === undefined ? null : String(summaries),
    whole_transactions_since: whole === undefined ? null : String(whole),
    transaction_indexes: whole === undefined ? null : [...indexes],
  }
}

function transactionsRow(
  { oldestVersion }: LedgerSummary,
  { summaries, whole, indexes }: TransactionsSince,
): readonly [string, string] {
  const since = whole ?? summaries
  if (since === undefined) return ['transactions', 'not kept']
  const kept = since === oldestVersion ? 'kept' : `kept since version ${since}`
  if (whole === undefined) return ['transactions', `summaries, ${kept}`]
  const leftOut = TRANSACTION_INDEXES.filter((index) => !indexes.has(index))
  return ['transactions', `whole, ${kept}${leftOut.length === 0 ? '' : `, without indexes: ${leftOut.join(', ')}`}`]
}

function trustFacts({ signed, contradicted }: CommitMark) {
  return {
    waypoint: signed?.waypoint ?? null,
    signed_version: signed ? String(signed.version) : null,
    signed_epoch: signed ? String(signed.epoch) : null,
    signed_power: signed?.power ? String(signed.power.signed) : null,
    total_power: signed?.power ? String(signed.power.total) : null,
    contradicted_version: contradicted ? String(contradicted.version) : null,
    contradicted_epoch: contradicted ? String(contradicted.epoch) : null,
  }
}

function auditRows(record: AuditRecord | undefined, { signed }: CommitMark): (readonly [string, string])[] {
  return record ? [['audited', describeAudit(record, signed)]] : []
}

function auditFacts(record: AuditRecord | undefined) {
  return {
    audited_version: record ? String(record.version) : null,
    audited_from_version: record ? String(record.from) : null,
    audited_blocks: record?.compared ?? null,
    audit_findings: record?.findingCount ?? null,
  }
}

function contradictedRow(contradicted: Contradiction | undefined): (readonly [string, string])[] {
  if (!contradicted) return []
  const { version, epoch } = contradicted
  return [['contradicted', `the validators of epoch ${epoch} signed another ledger up to version ${version}`]]
}

/** Signatures that verify a store, and those that contradict it. A truncation may have cut off signed versions. */
function trustOf({ latestVersion }: LedgerSummary, mark: Uint8Array | undefined): CommitMark {
  const decoded = decodeCommitMark(mark)
  const { signed } = decoded
  if (!signed || signed.version <= latestVersion) return decoded
  return { ...decoded, signed: { ...signed, version: latestVersion } }
}

function measured({ ledger, stats }: LmdbEngineReader) {
  const versions = Number(ledger!.latestVersion - ledger!.oldestVersion) + 1
  const found = measureStore({ ...stats, versions })
  if (!found) throw noLedgerErrors.nothingToForecastFrom()
  return found
}

function forecastFacts(engine: LmdbEngineReader) {
  const { shape, measured: bytes } = measured(engine)
  const windows = forecastWindows(shape, bytes).map((window) => ({
    versions: window.versions,
    disk_bytes: Math.ceil(window.diskBytes),
    memory_bytes: Math.ceil(window.memoryBytes),
    seconds_from_backup: Math.ceil(window.backupSeconds),
    seconds_from_node: Math.ceil(window.nodeSeconds),
  }))
  const { bytesPerKey, bytesPerWrite, growth } = bytes
  const basis = {
    keys: shape.keys,
    writes_per_version: shape.writesPerVersion,
    bytes_per_key: bytesPerKey,
    bytes_per_write: bytesPerWrite,
    file_to_used_pages: growth,
  }
  return { forecast: { basis, windows } }
}

function forecastText(engine: LmdbEngineReader): string {
  const { shape, measured: bytes } = measured(engine)
  const windows = forecastWindows(shape, bytes).map(forecastRow)
  const basis = [
    ['bytes a key of the newest state', bytes.bytesPerKey.toFixed(0)],
    ['writes a version', shape.writesPerVersion.toFixed(2)],
    ['bytes of such a write', bytes.bytesPerWrite.toFixed(0)],
    ['file ÷ pages in use', bytes.growth.toFixed(2)],
  ]
  return `${columns(basis)}\n\n${columns([FORECAST_HEADINGS, ...windows])}`
}

function describeBase({ version, complete }: StoreBase): string {
  if (version === 0n) return 'genesis'
  if (complete) return `the state at version ${version}`
  return `assumed empty before version ${version}: older writes are not known to be absent`
}

/** A chain id as a number, as every network's is, unless JSON would lose digits of it. */
function jsonChainId(chainId: bigint): number | string {
  return chainId <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(chainId) : String(chainId)
}

function formatTime(timestampUsec: bigint): string {
  const milliseconds = Number(timestampUsec / 1000n)
  const date = new Date(milliseconds)
  return Number.isNaN(date.getTime()) ? `${timestampUsec} µs` : date.toISOString()
}
