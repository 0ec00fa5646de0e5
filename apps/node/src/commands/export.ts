import { isSystemError } from '@ledger-state/core/files'
import { feedHeaderLine, stateToFeedLine, versionToFeedLine } from '@ledger-state/feed'
import { decodeCommitMark, isHoldingsKey } from '@ledger-state/records'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command, CommandInput } from '../config/command.js'
import { listOption, oneOf, option, parseWhole, switchOption } from '../config/option.js'
import { exportFailed, noLedgerErrors, outsideOfStore, stoppedBy, usage, usageError } from '../errors.js'
import { exportParquet } from '../parquet/export-parquet.js'
import { TABLE_NAMES } from '../parquet/tables.js'
import { type ExportSource, openExportSource } from '../stores/export-source.js'
import { nameOfPlace, storeOptions, storePlace } from '../stores/store-place.js'
import { formatBytes, formatCount, formatCounted, formatShare } from '../terminal/amounts.js'
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.js'
import { listenForStop } from '../terminal/stop-signal.js'
import { writeLinesTo } from './write-lines.js'

const formatOption = option(
  'format',
  'FORMAT',
  'feed (default), or parquet: a folder of files for SQL',
  oneOf('feed', 'parquet'),
)
const onlyOption = listOption(
  'only',
  'TABLE',
  `tables of parquet: ${TABLE_NAMES.join(', ')} (default all)`,
  oneOf(...TABLE_NAMES),
)
const followOption = switchOption('follow', 'with parquet: export further versions, until stopped')
const fromOption = option('from', 'VERSION', 'version of the state to begin with (default the oldest)', parseWhole)
const toOption = option('to', 'VERSION', 'last version (default the latest)', parseWhole)

const ENTRIES_PER_LINE = 500

export const exportCommand: Command = {
  name: 'export',
  goesOn: true,
  summary:
    'Writes a window of a store to a file that ingest reads, or as Parquet: the state at a version, and the versions after it.',
  arguments: [
    {
      name: 'FILE',
      description:
        'file, pipe or device to write, or - for standard output; a suffix .gz or .zst compresses it; for parquet, a folder',
    },
  ],
  options: [...storeOptions, formatOption, fromOption, toOption, onlyOption, followOption],
  examples: [
    'ledger-state export mainnet.ndjson.gz --format feed --data-dir data/mainnet',
    'ledger-state export lake --format parquet --data-dir data/mainnet --follow',
  ],
  async run(input) {
    const named = input.argument('FILE')
    if (input.get(formatOption) === 'parquet') return await exportToParquet(input, named)
    if (input.get(formatOption) === undefined) expectFeedName(named)
    const file = named === '-' ? '/dev/stdout' : named
    if (input.get(onlyOption) || input.get(followOption)) throw usageError('--only and --follow need --format parquet')
    const stop = listenForStop()
    const progress = createProgressLine(process.stderr)
    const place = storePlace(input, 'export')
    const store = await openExportSource(place)
    try {
      const { ledger } = store
      if (!ledger) throw noLedgerErrors.emptyStore(nameOfPlace(place))
      const from = input.get(fromOption) ?? ledger.oldestVersion
      const to = input.get(toOption) ?? ledger.latestVersion
      // A wrong `to` is found before the state is written.
      await store.blockAt(to)
      if (from > to && from <= ledger.latestVersion) throw usage.fromAboveTo(from, to)
      const exported = { entries: 0 }
      await writeLinesTo(file, feedLines(store, ledger.chainId, from, to, progress, exported), stop.signal)
      progress.finish()
      const signal = stop.by()
      const left = named === '-' ? 'the output is not complete' : `${file} is not written`
      if (signal) throw stoppedBy(signal, `${left}; the same command begins again`)
      const state = `the state at version ${from} (${formatCounted(exported.entries, 'entry', 'entries')})`
      process.stderr.write(
        `${file} holds ${state} and ${to === from ? 'no version' : `the ${formatCounted(to - from, 'version')}`} after it\n`,
      )
    } catch (error) {
      throw outsideOfStore(error, store.ledger)
    } finally {
      progress.finish()
      await store.close()
    }
  },
}

/** @throws `usage` if the name of a feed is one of another format or of a folder */
function expectFeedName(name: string): void {
  if (/\.parquet$|\/$/.test(name)) throw usageError('a folder of Parquet files needs --format parquet')
  if (/\.csv(\.gz|\.zst)?$/.test(name)) {
    const others = 'history and view print CSV with --csv, and --format parquet is for SQL'
    throw usageError(`export writes a feed of JSON lines (.ndjson), not CSV: ${others}`)
  }
}

/** Time between looks for further versions, so that files do not become too small. */
const FOLLOW_MS = 10_000

async function exportToParquet(input: CommandInput, folder: string): Promise<void> {
  if (folder === '-') throw usageError('--format parquet writes a folder of files: name a folder instead of -')
  const toExportError = <T>(error: T) => (isSystemError(error) ? exportFailed.cannotExport(folder, error) : error)
  const place = storePlace(input, 'export')
  if (place.kind !== 'folder') throw usageError('--format parquet reads a store in a folder, not in a database')
  const stop = listenForStop()
  const progress = createProgressLine(process.stderr)
  const engine = openStateEngineReader({ path: place.dataDir, verifyReads: true })
  try {
    if (!engine.ledger) throw noLedgerErrors.emptyStore(place.dataDir)
    const { ranges } = await exportParquet({
      engine,
      store: place.dataDir,
      folder,
      only: input.get(onlyOption),
      from: input.get(fromOption),
      to: input.get(toOption),
      followMs: input.get(followOption) ? FOLLOW_MS : undefined,
      signal: stop.signal,
      onRange: ({ last }) => progress.update(() => `exported up to version ${last}`),
      onFault: (error) => {
        progress.finish()
        process.stderr.write(`${toExportError(error).message}; trying again in ${FOLLOW_MS / 1_000} s\n`)
      },
    })
    progress.finish()
    const signal = stop.by()
    if (signal) throw stoppedBy(signal, `the same command completes ${folder}`)
    const rows = ranges.flatMap(({ files }) => Object.values(files)).reduce((sum, file) => sum + file.rows, 0)
    process.stderr.write(
      `${folder} holds versions ${ranges[0]?.first} to ${ranges.at(-1)?.last} in ${formatCounted(rows, 'row')}\n`,
    )
  } catch (error) {
    throw outsideOfStore(toExportError(error), engine.ledger)
  } finally {
    progress.finish()
    await engine.close()
  }
}

async function* feedLines(
  store: ExportSource,
  chainId: bigint,
  from: bigint,
  to: bigint,
  progress: ProgressLine,
  exported: { entries: number },
): AsyncGenerator<string> {
  const { block } = await store.blockAt(from)
  yield feedHeaderLine({
    chainId: Number(chainId),
    hashSalt: decodeCommitMark(store.mark).hashSalt,
    base: { version: from, block, complete: store.isComplete },
  })
  let bytes = 0
  // Number of keys at all kept versions. The oldest of them may have fewer.
  const { keys } = store
  const showState = (): void =>
    progress.update((seconds) => {
      if (keys === undefined)
        return `exporting the state: ${formatCounted(exported.entries, 'entry', 'entries')}, ${formatBytes(bytes)}`
      const amount = `${formatCount(exported.entries)} of at most ${formatCounted(keys, 'entry', 'entries')}`
      return `exporting the state: ${amount}, ${formatBytes(bytes)}, ${formatShare(exported.entries, keys, seconds)}`
    })
  let entries: { key: Uint8Array; value: Uint8Array; version: bigint }[] = []
  for await (const entry of store.entries(from)) {
    // Whoever ingests the file derives the index of holdings.
    if (isHoldingsKey(entry.key)) continue
    bytes += entry.key.length + entry.value.length
    exported.entries++
    if (entries.push(entry) < ENTRIES_PER_LINE) continue
    yield stateToFeedLine(entries)
    entries = []
    showState()
  }
  if (entries.length > 0) yield stateToFeedLine(entries)
  showState()
  if (from === to) return
  const began = performance.now()
  for await (const record of store.versions(from + 1n, to)) {
    const writes = record.writes.filter(([key]) => !isHoldingsKey(key))
    yield versionToFeedLine({ ...record, writes })
    for (const [key, value] of writes) bytes += key.length + (value?.length ?? 0)
    progress.update(() => {
      const share = formatShare(Number(record.version - from), Number(to - from), (performance.now() - began) / 1_000)
      return `exporting versions: ${record.version} of ${to}, ${formatBytes(bytes)}, ${share}`
    })
  }
}
