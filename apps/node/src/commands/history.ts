import { parseAddress, parseU64 } from '@ledger-state/core'
import { type Change, createLedger, parseAsset } from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { option, parseAs, switchOption, wholeNumber } from '../config/option.js'
import { settings } from '../config/settings.js'

const fromOption = option('from', 'VERSION', 'first version (default the oldest that is known)', parseU64)
const toOption = option('to', 'VERSION', 'last version (default the latest)', parseU64)
const limitOption = option('limit', 'N', 'most changes to print (default all)', wholeNumber(1, Number.MAX_SAFE_INTEGER))
const oldestFirstOption = switchOption('oldest-first', 'begin with the oldest change')
const csvOption = switchOption('csv', 'print CSV in place of JSON lines')

export const balanceHistoryCommand: Command = {
  name: 'history balance',
  summary: 'Prints the versions at which a balance changed, one a line.',
  arguments: [
    { name: 'ADDRESS', description: 'the account, with or without 0x' },
    { name: 'ASSET', description: 'a coin type, or the address of a fungible asset' },
  ],
  options: [csvOption, fromOption, toOption, limitOption, oldestFirstOption, settings.dataDir],
  required: [settings.dataDir],
  examples: ['ledger-state history balance 0xa11ce 0x1::aptos_coin::AptosCoin --csv --data-dir data/demo'],
  async run(input) {
    const owner = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const asset = parseAs('ASSET', input.argument('ASSET'), parseAsset)
    const isCsv = input.get(csvOption)
    const engine = openStateEngineReader({ path: input.required(settings.dataDir), verifyReads: true })
    try {
      const state = createLedger(engine).at(input.get(toOption))
      const from = input.get(fromOption)
      const order = input.get(oldestFirstOption) ? 'oldestFirst' : 'newestFirst'
      const toLine = isCsv ? csvLine : jsonLine
      let left = input.get(limitOption) ?? Number.POSITIVE_INFINITY
      let start: bigint | undefined
      let isComplete: boolean
      if (isCsv) process.stdout.write('version,timestamp,balance\n')
      // A page may end sooner than its limit: where much was written that changed nothing.
      do {
        const page = state.balanceHistory(owner, asset, { from, order, start, limit: left })
        for (const change of page) {
          process.stdout.write(toLine(change))
          left--
        }
        start = page.cursor
        isComplete = page.complete
      } while (start !== undefined && left > 0)
      if (!isComplete) process.stderr.write('changes before the window are not known\n')
    } finally {
      await engine.close()
    }
  },
}

function csvLine({ version, timestampUsec, value }: Change<bigint>): string {
  return `${version},${timestampUsec ?? ''},${value}\n`
}

function jsonLine({ version, timestampUsec, value }: Change<bigint>): string {
  const timestamp = timestampUsec === undefined ? null : String(timestampUsec)
  return `${JSON.stringify({ version: String(version), timestamp, balance: String(value) })}\n`
}
