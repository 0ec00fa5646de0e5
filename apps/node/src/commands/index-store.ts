import { indexStore } from '@ledger-state/ingest'
import { HOLDINGS_KEY } from '@ledger-state/records'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { noLedgerErrors, usage, usageError } from '../errors.js'
import { createIngestProgress } from '../ingest/ingest-progress.js'
import { openWriter } from '../stores/open-writer.js'
import { storeOptions, storePlace } from '../stores/store-place.js'
import { writeNotice } from '../terminal/notice.js'
import { untilStop } from '../until-stop.js'

export const indexCommand: Command = {
  name: 'index',
  goesOn: true,
  summary: 'Copies a store without an index of holdings into another folder, with the index at all its versions.',
  details: `The copy continues from the source of the store. The same command resumes a copy that was cut short. Then serve the new
folder, and remove the old one. A store in a database is ingested again instead.`,
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
    const engine = await openWriter({ kind: 'folder', dataDir: folder })
    try {
      if (engine.kind === 'sync' && engine.ledger && !engine.at().has(HOLDINGS_KEY))
        throw usage.indexOverVersions(folder)
      await indexStore(engine, store, {
        description: dataDir,
        signal,
        onNotice: writeNotice,
        progress: createIngestProgress(process.stderr, 'indexing', undefined),
      })
    } finally {
      await engine.close()
    }
    signal.throwIfAborted()
    process.stdout.write(
      `${folder} holds versions ${store.ledger.oldestVersion} to ${store.ledger.latestVersion} with the index of holdings\n`,
    )
  } finally {
    await store.close()
  }
}
