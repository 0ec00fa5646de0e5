import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { settings } from '../config/settings.js'
import { damagedStore } from '../errors.js'
import { formatCount } from '../terminal/amounts.js'

const REPORT_INTERVAL_RECORDS = 1_000_000

export const checkCommand: Command = {
  name: 'check',
  summary: 'Proves that a store is sound, also while it is written and served; the file may grow meanwhile.',
  arguments: [],
  options: [settings.dataDir],
  required: [settings.dataDir],
  examples: ['ledger-state check --data-dir data/mainnet'],
  async run(input) {
    const path = input.required(settings.dataDir)
    const engine = openStateEngineReader({ path })
    let next = REPORT_INTERVAL_RECORDS
    const onProgress = (records: number) => {
      if (records < next) return
      next += REPORT_INTERVAL_RECORDS
      process.stderr.write(`${formatCount(records)} records\n`)
    }
    try {
      const { problems, records, keys, supersededEntries, blocks } = await engine.check({ onProgress })
      for (const problem of problems) process.stdout.write(`${problem}\n`)
      const what = `${formatCount(records)} records: ${formatCount(keys)} keys, ${formatCount(supersededEntries)} superseded values, ${formatCount(blocks)} blocks`
      if (problems.length > 0) {
        throw damagedStore(path, problems.length, what)
      }
      process.stdout.write(`sound: ${what}\n`)
    } finally {
      await engine.close()
    }
  },
}
