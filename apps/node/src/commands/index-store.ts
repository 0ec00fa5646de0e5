import { isPresent, removeIfPossible, writeDurably } from '@ledger-state/core/files'
import type { StateEngineReader } from '@ledger-state/engine'
import { indexStore } from '@ledger-state/ingest'
import { decodeCommitMark, HOLDINGS_KEY } from '@ledger-state/records'
import { openStateEngineReader, type StateEngine } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { noLedgerErrors, usage, usageError } from '../errors.js'
import { createIngestProgress } from '../ingest/ingest-progress.js'
import { begunCopyFile } from '../stores/begun-copy.js'
import { isEmptyStore } from '../stores/is-empty-store.js'
import { openWriter } from '../stores/open-writer.js'
import { storeOptions, storePlace } from '../stores/store-place.js'
import { writeNotice } from '../terminal/notice.js'
import { untilStop } from '../until-stop.js'

export const indexCommand: Command = {
  name: 'index',
  goesOn: true,
  summary: 'Copies a store without an index of holdings into another folder, with the index at all its versions.',
  details: `The copy continues from the source of the store. The same command resumes an interrupted copy. Afterwards serve the new
folder, and remove the old one. For a store in a database, ingest again instead.`,
  arguments: [{ name: 'FOLDER', description: 'folder of the new store' }],
  options: [...storeOptions],
  examples: ['ledger-state index data/mainnet-indexed --data-dir data/mainnet'],
  async run(input) {
    const place = storePlace(input, 'index')
    if (place.kind === 'database') throw usageError('index copies a store in a folder: ingest again into the database')
    const folder = input.argument('FOLDER')
    await untilStop(`${folder} is not complete; the same command resumes`, (signal) =>
      copyWithIndex(place.dataDir, folder, signal),
    )
  },
}

async function copyWithIndex(dataDir: string, folder: string, signal: AbortSignal): Promise<void> {
  const store = openStateEngineReader({ path: dataDir })
  try {
    if (!store.ledger) throw noLedgerErrors.emptyStore(dataDir)
    if (store.at().has(HOLDINGS_KEY)) throw usageError(`${dataDir} already has an index of holdings`)
    let copied: string
    const engine = await openWriter({ kind: 'folder', dataDir: folder }, { isIndexing: true })
    try {
      if (engine.kind === 'sync') await beginCopy(engine, store, folder)
      await indexStore(engine, store, {
        description: dataDir,
        signal,
        onNotice: writeNotice,
        progress: createIngestProgress(process.stderr, 'indexing', undefined),
      })
      signal.throwIfAborted()
      removeIfPossible(begunCopyFile(folder))
      const { oldestVersion, latestVersion } = engine.ledger!
      copied = `versions ${oldestVersion} to ${latestVersion}`
    } finally {
      await engine.close()
    }
    process.stdout.write(`${folder} holds ${copied} with the index of holdings\n`)
  } finally {
    await store.close()
  }
}

/**
 * Marks a folder as one that this command fills, unless it may not.
 * @throws `usage` if the folder holds versions that this command did not write, and that the mark of the other store
 *   would declare proven or signed
 */
async function beginCopy(engine: StateEngine, store: StateEngineReader, folder: string): Promise<void> {
  if (engine.ledger && !engine.at().has(HOLDINGS_KEY)) throw usage.indexOverVersions(folder)
  const begun = begunCopyFile(folder)
  if (isPresent(begun)) return
  if (!(await isEmptyStore(engine)) && (!engine.ledger || claimsLess(engine, store)))
    throw usage.indexOverUnproven(folder)
  const isComplete = engine.ledger !== undefined && engine.ledger.latestVersion >= store.ledger!.latestVersion
  if (!isComplete) await writeDurably(begun, '')
}

/** Whether a store claims to be proven or signed less than another one does. */
function claimsLess(engine: StateEngine, store: StateEngineReader): boolean {
  const [held, other] = [decodeCommitMark(engine.mark), decodeCommitMark(store.mark)]
  return (held.isUnproven && !other.isUnproven) || (!held.signed && other.signed !== undefined)
}
