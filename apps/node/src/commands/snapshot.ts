import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../command-line.js'
import { settings } from '../config/settings.js'
import { switchOption } from '../option.js'

const compactOption = switchOption('compact', 'leave free pages out: smaller, and takes longer')

export const snapshotCommand: Command = {
  name: 'snapshot',
  summary: 'Copies a store as it is now, also while it is written and served. The copy serves.',
  arguments: [{ name: 'DIR', description: 'where the copy goes; it must not hold a store' }],
  options: [settings.dataDir, compactOption],
  required: [settings.dataDir],
  examples: ['ledger-state snapshot backup/mainnet --data-dir data/mainnet --compact'],
  async run(input) {
    const path = input.argument('DIR')
    const compact = input.get(compactOption)
    const engine = openStateEngineReader({
      path: input.required(settings.dataDir),
      verifyReads: true,
      // A compacted copy is made in the order of the keys, and not in that of the file.
      ...(!compact && { readAhead: true }),
    })
    try {
      await engine.snapshot(path, { compact })
    } finally {
      await engine.close()
    }
    const copy = openStateEngineReader({ path })
    const { ledger } = copy
    await copy.close()
    const what = ledger ? `versions ${ledger.oldestVersion} to ${ledger.latestVersion}` : 'an empty store'
    process.stdout.write(`${path} holds ${what}\n`)
  },
}
