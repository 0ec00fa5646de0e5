import { parseAddress } from '@ledger-state/core'
import { versionPruned } from '@ledger-state/engine'
import { activityFormat } from '@ledger-state/http/formats'
import { type ActivityCursor, listActivities, parseAsset, transactionAt } from '@ledger-state/ledger'
import type { Command } from '../config/command.js'
import { option, parseAs } from '../config/option.js'
import { openLedger } from '../stores/ledger-reader.js'
import { storeOptions, storePlace } from '../stores/store-place.js'
import { withCount } from '../terminal/counted-progress.js'
import { accountArgument } from './asked-state.js'
import { itemToCsv } from './get-holdings.js'
import {
  type AskedRange,
  askedMoments,
  csvOption,
  fromOption,
  limitOption,
  orderOption,
  readAskedRange,
  stateOfPage,
  toOption,
  writeToReader,
} from './history-pages.js'
import { noChanges, noteIfEmpty } from './note-if-empty.js'

/** Activities of a page: each page reads the store again. */
const PAGE_ACTIVITIES = 1_000

const assetOption = option('asset', 'ASSET', 'list only this coin type or fungible asset', parseAsset)

export const accountHistoryCommand: Command = {
  name: 'history account',
  summary: 'Prints every change of the holdings of an account, one store and version per line.',
  details: `The changes come from the state and not from events, so their sum is the difference of the balances. If the range begins
before the oldest changes in the store, a warning on standard error says that changes are missing.`,
  arguments: [accountArgument],
  options: [csvOption, assetOption, fromOption, toOption, orderOption, limitOption, ...storeOptions],
  examples: [
    'ledger-state history account 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab --csv --data-dir data/demo',
    'ledger-state history account 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab --from 2025-01-01T00:12:30Z --order asc --csv --data-dir data/demo',
  ],
  async run(input) {
    const owner = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const moments = askedMoments(input)
    const [asset, order, isCsv] = [input.get(assetOption), input.get(orderOption), input.get(csvOption)]
    const store = await openLedger(storePlace(input, 'history'))
    async function* pages(asked: AskedRange): AsyncGenerator<readonly string[]> {
      let left = input.get(limitOption) ?? Number.POSITIVE_INFINITY
      let start: ActivityCursor | undefined
      do {
        const { printed, cursor, oldestNow } = await store.read((ledger) => {
          const state = stateOfPage(ledger, asked)
          const transactionOf = asked.hasTransactions ? (at: bigint) => transactionAt(state, at) : undefined
          const format = activityFormat(transactionOf)
          const limit = Math.min(left, PAGE_ACTIVITIES)
          const page = listActivities(state, owner, { from: asked.from, order, asset, start, limit })
          const found = Array.from(page).filter((activity) => activity !== undefined)
          return {
            printed: found.map((activity) => `${isCsv ? itemToCsv(format, activity) : format.toJson(activity)}\n`),
            cursor: page.cursor,
            oldestNow: state.ledger.oldestVersion,
          }
        })
        // A page cannot see versions pruned since the first page.
        if (oldestNow > asked.ledger.oldestVersion) throw versionPruned(asked.ledger.oldestVersion, oldestNow)
        yield printed
        left -= printed.length
        start = cursor
      } while (start && left > 0)
    }
    async function* lines(): AsyncGenerator<string> {
      const isComplete = moments.from !== undefined
      const asked = await readAskedRange(store, moments, (state, from) => {
        return !isComplete || listActivities(state, owner, { from }).complete
      })
      if (isCsv) yield `${activityFormat(asked.hasTransactions ? () => undefined : undefined).columns.join()}\n`
      const subject = asset ? 'this account in this asset' : 'this account'
      const printed = noteIfEmpty(withCount(pages(asked), 'change'), () => noChanges(subject, asked))
      for await (const page of printed) yield page.join('')
    }
    try {
      await writeToReader(lines())
    } finally {
      await store.close()
    }
  },
}
