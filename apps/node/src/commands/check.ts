import { fork } from 'node:child_process'
import { once } from 'node:events'
import { LedgerStateError } from '@ledger-state/core'
import type { CheckReport } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { settings } from '../config/settings.js'
import { damagedStore, deadlyStore } from '../errors.js'
import type { CheckMessage } from '../processes/check-process.js'
import { formatCount } from '../terminal/amounts.js'

const CHECK_PROCESS = new URL('../processes/check-process.js', import.meta.url)

export const checkCommand: Command = {
  name: 'check',
  summary: 'Proves that a store is sound, also while it is written and served; the file may grow meanwhile.',
  arguments: [],
  options: [settings.dataDir],
  required: [settings.dataDir],
  examples: ['ledger-state check --data-dir data/mainnet'],
  async run(input) {
    const path = input.required(settings.dataDir)
    const { problems, records, keys, supersededEntries, blocks } = await checkInProcess(path)
    for (const problem of problems) process.stdout.write(`${problem}\n`)
    const what = `${formatCount(records)} records: ${formatCount(keys)} keys, ${formatCount(supersededEntries)} superseded values, ${formatCount(blocks)} blocks`
    if (problems.length > 0) {
      throw damagedStore(path, problems.length, what)
    }
    process.stdout.write(`sound: ${what}\n`)
  },
}

/** @throws `store_corrupt` where the store ends the process that checks it; what it throws */
async function checkInProcess(path: string): Promise<CheckReport> {
  const child = fork(CHECK_PROCESS, [path], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let said: CheckMessage | undefined
  child.once('message', (message: CheckMessage) => {
    said = message
  })
  // All that it sent has come in when the channel closes.
  const [[status, signal]] = (await Promise.all([once(child, 'exit'), once(child, 'disconnect')])) as [
    [number | null, NodeJS.Signals | null],
    unknown,
  ]
  if (!said) throw deadlyStore(path, signal ?? `status ${status}`)
  if ('report' in said) return said.report
  if (said.code === undefined) throw new Error(said.message)
  throw new LedgerStateError(said.code, said.message)
}
