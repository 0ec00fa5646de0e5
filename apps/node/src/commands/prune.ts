import type { Command } from '../config/command.js'
import { settings } from '../config/settings.js'
import { noLedgerErrors } from '../errors.js'
import { openWriter } from '../stores/open-writer.js'
import { nameOfPlace, storeOptions, storePlace } from '../stores/store-place.js'
import { formatCount } from '../terminal/amounts.js'

export const pruneCommand: Command = {
  name: 'prune',
  goesOn: true,
  summary: 'Drops what no version of a window can see, for good.',
  arguments: [],
  options: [...storeOptions, settings.retain],
  required: [settings.retain],
  examples: ['ledger-state prune --data-dir data/mainnet --retain 1000000'],
  async run(input) {
    const retain = input.required(settings.retain)
    const place = storePlace(input, 'prune')
    // Does not create a store, so that a mistyped name of a folder or database is an error.
    const engine = await openWriter(place, { create: false })
    try {
      if (!engine.ledger) throw noLedgerErrors.emptyStore(nameOfPlace(place))
      const { oldestVersion, droppedEntries } = await engine.prune(retain)
      process.stdout.write(`dropped ${formatCount(droppedEntries)} entries; the oldest version is ${oldestVersion}\n`)
    } finally {
      await engine.close()
    }
  },
}
