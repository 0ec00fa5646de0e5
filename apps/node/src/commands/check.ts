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
import { table } from '../terminal/table.js'

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
    const { problems } = report
    for (const problem of problems) process.stdout.write(`${problem}\n`)
    const what = `${formatCount(report.records)} records`
    if (problems.length === 0) process.stdout.write(`sound: ${what}\n`)
    process.stdout.write(`${table(reportRows(report))}\n`)
    if (problems.length > 0) throw damagedStore(path, problems.length, what)
  },
}

function reportRows(report: CheckReport): (readonly [string, string])[] {
  const { firstVersion, lastVersion, blocks, unreadableBytes } = report
  const [keys, superseded, writes, commits] = [
    report.keys,
    report.supersededEntries,
    report.unmergedWrites,
    report.unmergedCommits,
  ].map(formatCount)
  return [
    ['versions', firstVersion === undefined ? 'none' : `${firstVersion} to ${lastVersion}`],
    ['blocks', formatCount(blocks)],
    ['data file', `${keys} keys, ${superseded} superseded values`],
    ['write-ahead log', `${writes} writes in ${commits} commits that are not merged yet`],
    ...(unreadableBytes > 0
      ? [['bytes of the log that are in no commit', formatCount(unreadableBytes)] satisfies [string, string]]
      : []),
  ]
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
