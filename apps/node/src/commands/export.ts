import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip, createZstdCompress } from 'node:zlib'
import { parseU64 } from '@ledger-state/core'
import { feedHeaderLine, stateToFeedLine, versionToFeedLine } from '@ledger-state/feed'
import { type LmdbEngineReader, openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../command-line.js'
import { settings } from '../config/settings.js'
import { noLedgerIn } from '../no-ledger.js'
import { option, textOption, usageError } from '../option.js'
import { createProgressReporter, formatCount } from '../progress.js'

const formatOption = textOption('format', 'feed', 'the ledger feed, the only format there is')
const fromOption = option('from', 'VERSION', 'version of the state to begin with (default the oldest)', parseU64)
const toOption = option('to', 'VERSION', 'last version (default the latest)', parseU64)

const ENTRIES_OF_A_LINE = 500
/** Exported under this name until it is whole. */
const UNFINISHED = '.unfinished'

export const exportCommand: Command = {
  name: 'export',
  summary: 'Writes a window of a store into a file that ingest reads: the state at a version, and what followed.',
  arguments: [{ name: 'FILE', description: 'where it goes; .gz or .zst at its end compresses it' }],
  options: [settings.dataDir, formatOption, fromOption, toOption],
  required: [settings.dataDir],
  examples: ['ledger-state export mainnet.ndjson.gz --format feed --data-dir data/mainnet'],
  async run(input) {
    const file = input.argument('FILE')
    const format = input.get(formatOption) ?? 'feed'
    if (format !== 'feed') throw usageError(`--format: ${JSON.stringify(format)}, feed is the only format there is`)
    const dataDir = input.required(settings.dataDir)
    const engine = openStateEngineReader({ path: dataDir, verifyReads: true })
    try {
      if (!engine.ledger) throw noLedgerIn(dataDir)
      const from = input.get(fromOption) ?? engine.ledger.oldestVersion
      const to = input.get(toOption) ?? engine.ledger.latestVersion
      if (from > to) throw usageError(`--from ${from} is behind --to ${to}`)
      const counted = { entries: 0 }
      const unfinished = file + UNFINISHED
      try {
        await writeLines(unfinished, file, feedLines(engine, from, to, counted))
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
      await rename(unfinished, file)
      const state = `the state at version ${from} (${formatCount(counted.entries)} entries)`
      process.stderr.write(`${file} holds ${state} and ${formatCount(to - from)} versions behind it\n`)
    } finally {
      await engine.close()
    }
  },
}

async function writeLines(path: string, name: string, lines: Iterable<string>): Promise<void> {
  const text = Readable.from(inPieces(lines))
  const file = createWriteStream(path)
  if (name.endsWith('.gz')) await pipeline(text, createGzip(), file)
  else if (name.endsWith('.zst')) {
    await pipeline(text, createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } }), file)
  } else await pipeline(text, file)
}

/** Lines joined into pieces that a stream carries well. */
function* inPieces(lines: Iterable<string>): Generator<Buffer> {
  let piece = ''
  for (const line of lines) {
    piece += `${line}\n`
    if (piece.length < 65_536) continue
    yield Buffer.from(piece)
    piece = ''
  }
  yield Buffer.from(piece)
}

function* feedLines(
  engine: LmdbEngineReader,
  from: bigint,
  to: bigint,
  counted: { entries: number },
): Generator<string> {
  const progress = createProgressReporter(process.stderr, 'exporting')
  const counters = { versions: 0, entries: 0, writes: 0, bytes: 0, latestVersion: undefined as bigint | undefined }
  const view = engine.at(from)
  const { block } = engine.blockAt(from)
  yield feedHeaderLine({
    chainId: Number(view.ledger.chainId),
    base: { version: from, block, complete: engine.base!.complete },
  })
  const total = { total: Number(to - from), unit: 'versions' as const }
  try {
    let entries: { key: Uint8Array; value: Uint8Array; version: bigint }[] = []
    for (const entry of view.scan(new Uint8Array(0))) {
      counters.bytes += entry.key.length + entry.value.length
      if (entries.push(entry) < ENTRIES_OF_A_LINE) continue
      yield stateToFeedLine(entries)
      counters.entries += entries.length
      progress.update(counters, { done: 0, ...total })
      entries = []
    }
    if (entries.length > 0) yield stateToFeedLine(entries)
    counted.entries = counters.entries + entries.length
    for (const record of to > from ? engine.versions(from + 1n, to) : []) {
      yield versionToFeedLine(record)
      counters.writes += record.writes.length
      counters.latestVersion = record.version
      progress.update(counters, { done: Number(record.version - from), ...total })
    }
  } finally {
    progress.finish()
  }
}
