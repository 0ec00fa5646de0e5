import { existsSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { followLinks, moveDurably } from '@ledger-state/core/files'
import { holdAudit } from '@ledger-state/ingest'
import { openAssembly, openStateEngineReader, STORE_FILE, UNFINISHED_STORE_FILE } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { switchOption } from '../config/option.js'
import { copyNotEmpty, usageError } from '../errors.js'
import { auditFolder } from '../stores/audit-folder.js'
import { copyStore } from '../stores/copy-store.js'
import { openExportSource } from '../stores/export-source.js'
import { openReader } from '../stores/open-reader.js'
import { openWriter } from '../stores/open-writer.js'
import { nameOfPlace, type StorePlace, storeOptions, storePlace, wordToPlace } from '../stores/store-place.js'
import { findWriteTarget } from '../stores/write-target.js'
import { formatBytes, formatCounted, formatShare } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { untilStop } from '../until-stop.js'

const compactOption = switchOption(
  'compact',
  'omit data that no version of the window needs: the copy is smaller, but takes longer',
)

const LOOK_INTERVAL_MS = 100

export const snapshotCommand: Command = {
  name: 'snapshot',
  goesOn: true,
  summary: 'Copies a consistent state of a store, even while it is written and served. The copy can be served.',
  arguments: [{ name: 'DIR', description: 'folder of the copy, or URL of a database; it must not hold a store' }],
  options: [...storeOptions, compactOption],
  examples: [
    'ledger-state snapshot backup/mainnet --data-dir data/mainnet --compact',
    'ledger-state snapshot data/mainnet --store postgres://user@host/db',
  ],
  async run(input) {
    const [from, to] = [storePlace(input, 'snapshot'), wordToPlace(input.argument('DIR'))]
    const compact = input.get(compactOption)
    const isOfFiles = from.kind === 'folder' && to.kind === 'folder'
    if (compact && !isOfFiles) throw usageError('snapshot: --compact is for a copy of a folder into a folder')
    await untilStop(
      () => leftOf(to),
      async (signal) => {
        if (isOfFiles) await copyFiles(from.dataDir, to.dataDir, compact, signal)
        else if (to.kind === 'folder') await copyIntoFolder(from, await folderAt(to.dataDir), signal)
        else await copyRecords(from, to, signal)
      },
    )
    const copy = await openReader(to)
    const { ledger } = copy
    await copy.close()
    const what = ledger ? `versions ${ledger.oldestVersion} to ${ledger.latestVersion}` : 'an empty store'
    process.stdout.write(`${nameOfPlace(to)} holds ${what}\n`)
  },
}

/** What a copy that was stopped leaves. */
function leftOf(to: StorePlace): string {
  const name = nameOfPlace(to)
  if (to.kind === 'database') return `${name} is not whole; empty it before the next attempt`
  if (existsSync(join(to.dataDir, STORE_FILE)))
    return `${name} holds the whole copy, which is larger than it has to be: a snapshot of it with --compact is smaller`
  return `nothing is in ${name}; the same command begins again`
}

async function copyFiles(from: string, to: string, compact: boolean, signal: AbortSignal): Promise<void> {
  const folder = await folderAt(to)
  const engine = openStateEngineReader({ path: from, verifyReads: true })
  const { fileBytes, freeBytes } = engine.stats
  const audit = await holdAudit(auditFolder(from))
  const stopShowing = showGrowth(join(folder, UNFINISHED_STORE_FILE), compact ? fileBytes - freeBytes : fileBytes)
  try {
    await engine.snapshot(folder, { compact, signal })
    await audit?.copyTo(auditFolder(folder))
  } catch (error) {
    // The engine knows only the folder at the end of all links.
    throw isLedgerStateError(error, 'store_not_empty') ? copyNotEmpty(to) : error
  } finally {
    stopShowing()
    await audit?.close()
    await engine.close()
  }
}

/** The folder that a path names, through all links; a path that is no link as it was given. It may not be there yet. */
async function folderAt(path: string): Promise<string> {
  const target = await findWriteTarget(path)
  if (target.kind === 'folder' || (target.kind === 'file' && target.mode === undefined)) return followLinks(path)
  throw usageError(`snapshot: ${path} is not a folder`)
}

/**
 * Copies into a folder, which gets its name only once the copy is whole. Nothing is left if it fails.
 * @throws `store_locked` while another command makes a store at the same place
 */
async function copyIntoFolder(from: StorePlace, path: string, signal: AbortSignal): Promise<void> {
  if ((await readdir(path).catch(() => [])).length > 0) throw copyNotEmpty(path)
  const assembly = openAssembly(path)
  const unfinished = join(assembly.folder, 'copy')
  try {
    await rm(unfinished, { recursive: true, force: true })
    await copyRecords(from, { kind: 'folder', dataDir: unfinished }, signal)
    await moveDurably(unfinished, path)
  } finally {
    await rm(assembly.folder, { recursive: true, force: true })
    assembly.close()
  }
}

/** Copies between stores of two kinds. */
async function copyRecords(from: StorePlace, to: StorePlace, signal: AbortSignal): Promise<void> {
  const progress = createProgressLine(process.stderr)
  const source = await openExportSource(from)
  try {
    const writer = await openWriter(to)
    try {
      await copyStore(source, writer, {
        name: nameOfPlace(to),
        signal,
        onProgress: ({ entries, version }) =>
          progress.update(() => {
            if (version === undefined) return `copying the state: ${formatCounted(entries, 'entry', 'entries')}`
            return `copying versions: ${version} of ${source.ledger!.latestVersion}`
          }),
      })
    } finally {
      await writer.close()
    }
  } finally {
    progress.finish()
    await source.close()
  }
}

/** Shows how a file grows to a size, until the returned function is called. */
function showGrowth(file: string, total: number): () => void {
  const progress = createProgressLine(process.stderr)
  let isOver = false
  const show = async (): Promise<void> => {
    const size = await stat(file).then(
      (found) => found.size,
      () => 0,
    )
    if (isOver) return
    progress.update((seconds) => {
      const amount = `${formatBytes(size)} of ${formatBytes(total)}`
      return `copying: ${amount}, ${formatShare(size, total, seconds)}`
    })
  }
  void show()
  const timer = setInterval(() => void show(), LOOK_INTERVAL_MS)
  return () => {
    isOver = true
    clearInterval(timer)
    progress.finish()
  }
}
