import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { settings } from '../config/settings.js'
import { emptyStore } from '../errors.js'
import { formatCount } from '../terminal/amounts.js'

export const pruneCommand: Command = {
  name: 'prune',
  summary: 'Drops what no version of a window can see, for good.',
  arguments: [],
  options: [settings.dataDir, settings.retain],
  required: [settings.dataDir, settings.retain],
  examples: ['ledger-state prune --data-dir data/mainnet --retain 1000000'],
  async run(input) {
    const retain = input.required(settings.retain)
    const path = input.required(settings.dataDir)
    // The writer would make an empty store of a mistyped folder.
    await openStateEngineReader({ path }).close()
    const engine = openStateEngine({ path, verifyReads: true })
    try {
      if (!engine.ledger) throw emptyStore(path)
      const { oldestVersion, droppedEntries } = await engine.prune(retain)
      process.stdout.write(`dropped ${formatCount(droppedEntries)} entries; the oldest version is ${oldestVersion}\n`)
    } finally {
      await engine.close()
    }
  },
}
