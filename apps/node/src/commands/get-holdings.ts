import { parseAddress } from '@ledger-state/core'
import { csvCell, holdingFormat, type ItemFormat, OBJECT_FORMAT, TOKEN_FORMAT } from '@ledger-state/http/formats'
import {
  type HoldingsPage,
  type HoldingsPageOptions,
  type Ledger,
  type LedgerState,
  listBalances,
  listHolders,
  listLargestHolders,
  listOwnedObjects,
  listTokens,
  MOST_SORTED_HOLDERS,
  parseAsset,
  readCollection,
} from '@ledger-state/ledger'
import { objectKey } from '@ledger-state/records'
import type { Command, CommandInput } from '../config/command.js'
import { defaultedOption, oneOf, option, parseAs, switchOption } from '../config/option.js'
import { type LedgerReader, openLedger } from '../stores/ledger-reader.js'
import { storePlace } from '../stores/store-place.js'
import { withCount } from '../terminal/counted-progress.js'
import { hintIfKnown, hintOfAsset } from './absent-names.js'
import { accountArgument, askedVersion, stateOptions } from './asked-state.js'
import { csvOption, stateOfPage, writeToReader } from './history-pages.js'
import { noteIfEmpty } from './note-if-empty.js'

/**
 * Items of a page. Each page reads the store again, so that a slow reader of the output does not keep old pages of the
 * store in use.
 */
const PAGE_ITEMS = 1_000

const assetOption = option('asset', 'ASSET', 'list only this coin type or fungible asset', parseAsset)
const nonzeroOption = switchOption('nonzero', 'omit stores that hold nothing')
const holdersOrderOption = defaultedOption(
  'order',
  'address|amount',
  'by address, or the largest amount first',
  'address',
  oneOf('address', 'amount'),
)
const listOptions = [csvOption, ...stateOptions]

export const getBalancesCommand: Command = {
  name: 'get balances',
  summary:
    'Prints the holdings of an account, one store per line: coin stores by type, then fungible stores by address.',
  arguments: [accountArgument],
  options: [assetOption, nonzeroOption, ...listOptions],
  examples: [
    'ledger-state get balances 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab --at 2025-01-01T00:12:30Z --csv --data-dir data/demo',
  ],
  async run(input) {
    const owner = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const [asset, isNonzero] = [input.get(assetOption), input.get(nonzeroOption)]
    await printList(input, {
      name: `${isNonzero ? 'holdings above zero' : 'holdings'} of ${input.argument('ADDRESS')}${asset ? ' in this asset' : ''}`,
      format: holdingFormat(undefined),
      open: (state, page) => listBalances(state, owner, { asset, isNonzero, ...page }),
    })
  },
}

export const getObjectsCommand: Command = {
  name: 'get objects',
  summary: 'Prints the objects that an account or an object owns, one per line, by address.',
  arguments: [accountArgument],
  options: listOptions,
  examples: [
    'ledger-state get objects 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab --data-dir data/demo',
  ],
  async run(input) {
    const owner = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    await printList(input, {
      name: `objects of ${input.argument('ADDRESS')}`,
      format: OBJECT_FORMAT,
      open: (state, page) => listOwnedObjects(state, owner, page),
    })
  },
}

export const getHoldersCommand: Command = {
  name: 'get holders',
  summary: 'Prints the holders of an asset, one store per line, by address or by amount.',
  details: `\`--order amount\` sorts the stores of assets with up to ${MOST_SORTED_HOLDERS} of them. For other assets, print all stores by
address and sort the lines.`,
  arguments: [{ name: 'ASSET', description: 'a coin type, or the address of a fungible asset' }],
  options: [holdersOrderOption, ...listOptions],
  examples: [
    'ledger-state get holders 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::bean::Bean --csv --data-dir data/demo',
    'ledger-state get holders 0xa --order amount --version 1500 --data-dir data/demo',
  ],
  async run(input) {
    const asset = parseAs('ASSET', input.argument('ASSET'), parseAsset)
    const list = input.get(holdersOrderOption) === 'amount' ? listLargestHolders : listHolders
    await printList(input, {
      name: `holders of ${input.argument('ASSET')}`,
      format: holdingFormat(undefined),
      open: (state, page) => list(state, asset, page),
      hint: (state) => hintOfAsset(state, asset),
    })
  },
}

export const getTokensCommand: Command = {
  name: 'get tokens',
  summary: 'Prints the tokens of a collection and their owners, one per line, by address.',
  arguments: [{ name: 'ADDRESS', description: 'the collection, with or without 0x' }],
  options: listOptions,
  examples: [
    'ledger-state get tokens 0x250eeb464baf03ed34bd822eb717acfd600a01589b35447c914991e4e4ec9da2 --csv --data-dir data/demo',
  ],
  async run(input) {
    const collection = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    await printList(input, {
      name: `tokens of ${input.argument('ADDRESS')}`,
      format: TOKEN_FORMAT,
      open: (state, page) => listTokens(state, collection, page),
      hint: (state) => (isCollection(state, collection) ? undefined : 'this state has no such collection'),
    })
  },
}

function isCollection({ view }: LedgerState, address: Uint8Array): boolean {
  const group = view.get(objectKey(address))
  return group !== undefined && readCollection(group) !== undefined
}

/** A list, and the way to print its items. */
interface PrintedList<T> {
  /** Name of the items, in the plural, with their owner. */
  readonly name: string
  readonly format: ItemFormat<T>
  readonly open: (state: LedgerState, page: HoldingsPageOptions) => HoldingsPage<T>
  /** Why there are no items, if a state lacks the thing that has them. */
  readonly hint?: (state: LedgerState) => string | undefined
}

async function printList<T>(input: CommandInput, list: PrintedList<T>): Promise<void> {
  const { format, open } = list
  const asked = askedVersion(input)
  const isCsv = input.get(csvOption)
  const store = await openLedger(storePlace(input, 'get'))
  const pages = noteIfEmpty(withCount(readList(store, asked, open), 'item'), () =>
    store.read((ledger) => describeNothing(ledger.at(asked(ledger)), list)),
  )
  async function* lines(): AsyncGenerator<string> {
    // The first page shows that the store has the state, so the head comes with it.
    let head = isCsv ? `${format.columns.join()}\n` : ''
    for await (const items of pages) {
      yield head + items.map((item) => `${isCsv ? itemToCsv(format, item) : format.toJson(item)}\n`).join('')
      head = ''
    }
  }
  try {
    await writeToReader(lines())
  } finally {
    await store.close()
  }
}

/** Line for people about an empty list. An empty list is an answer: a coin type or an account needs no record. */
function describeNothing(state: LedgerState, { name, hint }: Pick<PrintedList<never>, 'name' | 'hint'>): string {
  const why = hintIfKnown(() => hint?.(state))
  return `no ${name} at version ${state.version}${why === undefined ? '' : `: ${why}`}`
}

/**
 * Yields the items of a list of one state page by page.
 * @throws `version_truncated` if the state was cut off meanwhile
 */
export async function* readList<T>(
  store: LedgerReader,
  askedOf: (ledger: Ledger) => bigint | undefined,
  open: (state: LedgerState, page: HoldingsPageOptions) => HoldingsPage<T>,
): AsyncGenerator<T[]> {
  const asked = await store.read((now) => {
    const { version: to, ledger } = now.at(askedOf(now))
    return { to, ledger }
  })
  let start: Uint8Array | undefined
  do {
    const { items, cursor } = await store.read((now) => {
      const page = open(stateOfPage(now, asked), { start, limit: PAGE_ITEMS })
      const items = Array.from(page).filter((item) => item !== undefined)
      return { items, cursor: page.cursor }
    })
    yield items
    start = cursor
  } while (start)
}

/** A line of CSV. */
export function itemToCsv<T>(format: ItemFormat<T>, item: T): string {
  return format.toCells(item).map(csvCell).join()
}
