import { once } from 'node:events'
import type { AsyncStateWriter } from '@ledger-state/engine'
import type { StateEngine } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { settings } from '../config/settings.js'
import { noLedgerErrors } from '../errors.js'
import { openWriter } from '../stores/open-writer.js'
import { nameOfPlace, storeOptions, storePlace } from '../stores/store-place.js'
import { formatBytes, formatCounted } from '../terminal/amounts.js'
import { closeOnStop, untilStop } from '../until-stop.js'

export const pruneCommand: Command = {
  name: 'prune',
  goesOn: true,
  summary: 'Permanently deletes all values that no version of a window needs.',
  arguments: [],
  options: [...storeOptions, { ...settings.retain, description: 'versions to keep, rounded up to whole blocks' }],
  required: [settings.retain],
  examples: ['ledger-state prune --data-dir data/mainnet --retain 1000000'],
  async run(input) {
    const retain = input.required(settings.retain)
    const place = storePlace(input, 'prune')
    await untilStop('data below the window may be left; the same command deletes it', async (signal) => {
      // Does not create a store, so that a mistyped name of a folder or database is an error.
      const engine = await openWriter(place, { create: false })
      try {
        if (!engine.ledger) throw noLedgerErrors.emptyStore(nameOfPlace(place))
        const oldestVersion = await pruneAll(engine, retain, signal)
        process.stdout.write(`the oldest version is ${oldestVersion}${describeEffect(engine)}\n`)
      } finally {
        // A statement may take long, and the server takes it back when this process ends.
        if (engine.kind === 'sync' || !signal.aborted) await engine.close()
      }
    })
  },
}

/** Prunes a store until a signal is aborted, and returns its oldest version. A store in a folder is closed to end its merges. */
async function pruneAll(engine: StateEngine | AsyncStateWriter, retain: bigint, signal: AbortSignal): Promise<bigint> {
  if (engine.kind === 'sync') closeOnStop(signal, engine)
  const pruned = engine.prune(retain)
  const { oldestVersion } = await (engine.kind === 'sync' ? pruned : Promise.race([pruned, rejectedOnStop(signal)]))
  return oldestVersion
}

async function rejectedOnStop(signal: AbortSignal): Promise<never> {
  await once(signal, 'abort')
  throw signal.reason
}

/** The window that is left of a store in a folder. The files keep versions below it until merges drop them. */
function describeEffect(engine: StateEngine | AsyncStateWriter): string {
  if (!('stats' in engine)) return ''
  const { historyEntries, reclaimableBytes } = engine.stats
  const left = `; ${formatCounted(historyEntries, 'history entry', 'history entries')} can be read`
  return `${left}; about ${formatBytes(reclaimableBytes)} can be reclaimed (snapshot --compact)`
}
