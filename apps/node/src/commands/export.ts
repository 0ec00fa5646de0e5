import { statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip, createZstdCompress } from 'node:zlib'
import { parseU64 } from '@ledger-state/core'
import { feedHeaderLine, stateToFeedLine, versionToFeedLine } from '@ledger-state/feed'
import { type LmdbEngineReader, openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { option, textOption } from '../config/option.js'
import { settings } from '../config/settings.js'
import { cannotExport, emptyStore, fromAboveTo, isFolder, stoppedBy, usageError } from '../errors.js'
import { formatBytes, formatCount, formatShare } from '../terminal/amounts.js'
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.js'
import { listenForStop } from '../terminal/stop-signal.js'

const formatOption = textOption('format', 'feed', 'the ledger feed, the only format there is')
const fromOption = option('from', 'VERSION', 'version of the state to begin with (default the oldest)', parseU64)
const toOption = option('to', 'VERSION', 'last version (default the latest)', parseU64)

const ENTRIES_PER_LINE = 500
const PIECE_CHARACTERS = 65_536
/** An export has this ending until it is whole. */
const UNFINISHED = '.unfinished'

export const exportCommand: Command = {
  name: 'export',
  summary: 'Writes a window of a store to a file that ingest reads: the state at a version, and the versions after it.',
  arguments: [{ name: 'FILE', description: 'file to write; an ending .gz or .zst compresses it' }],
  options: [settings.dataDir, formatOption, fromOption, toOption],
  required: [settings.dataDir],
  examples: ['ledger-state export mainnet.ndjson.gz --format feed --data-dir data/mainnet'],
  async run(input) {
    const file = input.argument('FILE')
    const format = input.get(formatOption) ?? 'feed'
    if (format !== 'feed') throw usageError(`--format: ${JSON.stringify(format)}, feed is the only format there is`)
    const dataDir = input.required(settings.dataDir)
    const stop = listenForStop()
    const progress = createProgressLine(process.stderr)
    const engine = openStateEngineReader({ path: dataDir, verifyReads: true })
    try {
      if (!engine.ledger) throw emptyStore(dataDir)
      const from = input.get(fromOption) ?? engine.ledger.oldestVersion
      const to = input.get(toOption) ?? engine.ledger.latestVersion
      if (from > to) throw fromAboveTo(from, to)
      const exported = { entries: 0 }
      await writeWhole(file, feedLines(engine, from, to, progress, exported), stop.signal)
      progress.finish()
      const signal = stop.by()
      if (signal) throw stoppedBy(signal, `${file} is not written; the same command begins again`)
      const state = `the state at version ${from} (${formatCount(exported.entries)} entries)`
      process.stderr.write(`${file} holds ${state} and the ${formatCount(to - from)} versions after it\n`)
    } finally {
      progress.finish()
      await engine.close()
    }
  },
}

/** The file has its name only once it is whole; nothing is left of one that failed, or that the signal stopped. */
async function writeWhole(path: string, lines: Iterable<string>, signal: AbortSignal): Promise<void> {
  const unfinished = path + UNFINISHED
  const file = await openForWriting(path, unfinished)
  try {
    await writeLines(file.createWriteStream(), path, lines, signal)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    if (isSystemError(error)) throw cannotExport(path, error)
    if (!signal.aborted) throw error
  }
}

async function openForWriting(path: string, unfinished: string): Promise<FileHandle> {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw isFolder(path)
    return await open(unfinished, 'w')
  } catch (error) {
    throw isSystemError(error) ? cannotExport(path, error) : error
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

async function writeLines(file: Writable, name: string, lines: Iterable<string>, signal: AbortSignal): Promise<void> {
  const text = Readable.from(inPieces(lines))
  if (name.endsWith('.gz')) await pipeline(text, createGzip(), file, { signal })
  else if (name.endsWith('.zst')) {
    await pipeline(text, createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } }), file, { signal })
  } else await pipeline(text, file, { signal })
}

/** Lines joined into pieces that a stream carries well. */
function* inPieces(lines: Iterable<string>): Generator<Buffer> {
  let piece = ''
  for (const line of lines) {
    piece += `${line}\n`
    if (piece.length < PIECE_CHARACTERS) continue
    yield Buffer.from(piece)
    piece = ''
  }
  yield Buffer.from(piece)
}

function* feedLines(
  engine: LmdbEngineReader,
  from: bigint,
  to: bigint,
  progress: ProgressLine,
  exported: { entries: number },
): Generator<string> {
  const view = engine.at(from)
  const { block } = engine.blockAt(from)
  yield feedHeaderLine({
    chainId: Number(view.ledger.chainId),
    base: { version: from, block, complete: engine.base!.complete },
  })
  let bytes = 0
  // The keys of all kept versions: at the oldest of them there may be fewer.
  const { keys } = engine.stats
  const showState = (): void =>
    progress.update((seconds) => {
      const amount = `${formatCount(exported.entries)} of at most ${formatCount(keys)} entries`
      return `exporting the state: ${amount}, ${formatBytes(bytes)}, ${formatShare(exported.entries, keys, seconds)}`
    })
  let entries: { key: Uint8Array; value: Uint8Array; version: bigint }[] = []
  for (const entry of view.scan(new Uint8Array(0))) {
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
  for (const record of engine.versions(from + 1n, to)) {
    yield versionToFeedLine(record)
    for (const [key, value] of record.writes) bytes += key.length + (value?.length ?? 0)
    progress.update(() => {
      const share = formatShare(Number(record.version - from), Number(to - from), (performance.now() - began) / 1_000)
      return `exporting versions: ${record.version} of ${to}, ${formatBytes(bytes)}, ${share}`
    })
  }
}
