import { parseAddress } from '@ledger-state/core'
import {
  type Change,
  firstVersionOf,
  type HistoryOptions,
  type LedgerState,
  lastVersionOf,
  parseAsset,
} from '@ledger-state/ledger'
import type { Command } from '../config/command.js'
import { parseAs } from '../config/option.js'
import { openLedger } from '../stores/ledger-reader.js'
import { storeOptions, storePlace } from '../stores/store-place.js'
import {
  csvOption,
  expectOrdered,
  fromOption,
  limitOption,
  momentToCsv,
  notComplete,
  orderOption,
  quoteCsv,
  readPages,
  toOption,
  writeToReader,
} from './history-pages.js'

export const balanceHistoryCommand: Command = {
  name: 'history balance',
  summary: 'Prints the versions at which a balance changed, one a line.',
  details: `Coin store and primary store count together. What was held when the window began stands under the version that wrote
it, without a time. From a version on at which the balance cannot be read, the error says why in place of the balance. Where the
range begins before the window, a warning on standard error says that changes are missing.`,
  arguments: [
    { name: 'ADDRESS', description: 'the account, with or without 0x' },
    { name: 'ASSET', description: 'a coin type, or the address of a fungible asset' },
  ],
  options: [csvOption, fromOption, toOption, orderOption, limitOption, ...storeOptions],
  examples: [
    'ledger-state history balance 0xa11ce 0x1::aptos_coin::AptosCoin --csv --data-dir data/demo',
    'ledger-state history balance 0xa11ce 0xa --from 2025-01-01T00:12:30Z --order asc --limit 10 --data-dir data/demo',
  ],
  async run(input) {
    const owner = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const asset = parseAs('ASSET', input.argument('ASSET'), parseAsset)
    const [fromMoment, toMoment] = [input.get(fromOption), input.get(toOption)]
    expectOrdered(fromMoment, toMoment)
    const order = input.get(orderOption)
    const store = await openLedger(storePlace(input, 'history balance'))
    try {
      const asked = await store.read((ledger) => {
        const state = ledger.at(toMoment && lastVersionOf(ledger, toMoment))
        const from = fromMoment && firstVersionOf(ledger, fromMoment)
        const { complete } = state.balanceHistory(owner, asset, { from })
        return { to: state.version, from, oldestVersion: state.ledger.oldestVersion, complete }
      })
      if (!asked.complete) process.stderr.write(notComplete(asked.oldestVersion))
      const open = (state: LedgerState, options: HistoryOptions) =>
        state.balanceHistory(owner, asset, { from: asked.from, order, ...options })
      const lines = input.get(csvOption) ? csvPieces : jsonPieces
      await writeToReader(lines(readPages(store, asked, open, input.get(limitOption))))
    } finally {
      await store.close()
    }
  },
}

async function* csvPieces(changes: AsyncIterable<readonly Change<bigint>[]>): AsyncGenerator<string> {
  yield 'version,timestamp,time,balance,error\n'
  for await (const page of changes) yield page.map(changeToCsvLine).join('')
}

async function* jsonPieces(changes: AsyncIterable<readonly Change<bigint>[]>): AsyncGenerator<string> {
  for await (const page of changes) yield page.map(changeToJsonLine).join('')
}

function changeToCsvLine(change: Change<bigint>): string {
  const { value, error } = change
  return `${momentToCsv(change)},${value ?? ''},${error ? quoteCsv(error.message) : ''}\n`
}

function changeToJsonLine({ version, timestampUsec, value, error }: Change<bigint>): string {
  const timestamp = timestampUsec === undefined ? null : String(timestampUsec)
  const reading = error ? { error: error.message } : { balance: String(value) }
  return `${JSON.stringify({ version: String(version), timestamp, ...reading })}\n`
}
