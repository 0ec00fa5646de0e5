import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { type Command, parseRetain } from '../command-line.js'
import { noLedgerIn } from '../no-ledger.js'
import { formatCount } from '../progress.js'
import { dataDirOption, retainOption } from '../shared-options.js'

export const pruneCommand: Command = {
  name: 'prune',
  summary: 'Forgets what no version of a window can see. Nothing brings it back.',
  arguments: [],
  options: { ...dataDirOption, retain: { ...retainOption.retain, required: true } },
  examples: ['ledger-state prune --data-dir data/mainnet --retain 1000000'],
  async run(input) {
    const retain = parseRetain(input)!
    const path = input.required('data-dir')
    // A mistyped folder is not to become an empty store.
    await openStateEngineReader({ path }).close()
    const engine = openStateEngine({ path })
    try {
      if (!engine.ledger) throw noLedgerIn(path)
      const { oldestVersion, droppedEntries } = await engine.prune(retain)
      process.stdout.write(`dropped ${formatCount(droppedEntries)} entries; the oldest version is ${oldestVersion}\n`)
    } finally {
      await engine.close()
    }
  },
}
