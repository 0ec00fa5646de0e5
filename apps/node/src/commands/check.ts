import { fork } from 'node:child_process'
import { once } from 'node:events'
import { LedgerStateError } from '@ledger-state/core'
import type { CheckReport } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { damagedStore, deadlyStore } from '../errors.js'
import type { CheckMessage } from '../processes/check-process.js'
import { openDatabaseReader } from '../stores/open-database.js'
import { type DatabasePlace, nameOfPlace, storeOptions, storePlace } from '../stores/store-place.js'
import { formatCount } from '../terminal/amounts.js'

const CHECK_PROCESS = new URL('../processes/check-process.js', import.meta.url)

export const checkCommand: Command = {
  name: 'check',
  summary: 'Proves that a store is sound, also while it is written and served; the file may grow meanwhile.',
  arguments: [],
  options: storeOptions,
  examples: ['ledger-state check --data-dir data/mainnet'],
  async run(input) {
    const place = storePlace(input, 'check')
    if ('url' in place) {
      await checkDatabase(place)
      return
    }
    const path = place.dataDir
    const report = await checkInProcess(path)
    const { problems, records, keys, supersededEntries, blocks } = report
    for (const problem of problems) process.stdout.write(`${problem}\n`)
    const what = `${formatCount(records)} records: ${formatCount(keys)} keys, ${formatCount(supersededEntries)} superseded values, ${formatCount(blocks)} blocks`
    if (problems.length === 0) process.stdout.write(`sound: ${what}\n`)
    process.stdout.write(`${describeLog(report)}\n`)
    if (problems.length > 0) throw damagedStore(path, problems.length, what)
  },
}

function describeLog({ firstVersion, lastVersion, unmergedCommits, unreadableBytes }: CheckReport): string {
  const versions = firstVersion === undefined ? 'no versions' : `versions ${firstVersion} to ${lastVersion}`
  const commits = `${formatCount(unmergedCommits)} ${unmergedCommits === 1 ? 'commit' : 'commits'}`
  return `${versions}; ${commits} in the write-ahead log, of which ${formatCount(unreadableBytes)} bytes cannot be read`
}

/** The server proves its own pages; what is checked is what the engine keeps in its tables. */
async function checkDatabase(place: DatabasePlace): Promise<void> {
  const engine = await openDatabaseReader(place)
  try {
    const { problems, versions, keys, writes } = await engine.check()
    for (const problem of problems) process.stdout.write(`${problem}\n`)
    const what = `${formatCount(versions)} versions: ${formatCount(keys)} keys, ${formatCount(writes)} writes`
    if (problems.length > 0) throw damagedStore(nameOfPlace(place), problems.length, what)
    process.stdout.write(`sound: ${what}\n`)
  } finally {
    await engine.close()
  }
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
