import { parseAddress } from '@ledger-state/core'
import { csvCell } from '@ledger-state/http/formats'
import {
  balanceHistory,
  type Change,
  type ChangeHistoryOptions,
  type History,
  isUnreadable,
  type Ledger,
  type LedgerState,
  parseAsset,
  resourceHistory,
  tableItemHistory,
  transactionAt,
} from '@ledger-state/ledger'
import { parseStructTag } from '@ledger-state/type-tag'
import type { Command, CommandInput } from '../config/command.js'
import { parseAs } from '../config/option.js'
import { openLedger } from '../stores/ledger-reader.js'
import { storeOptions, storePlace } from '../stores/store-place.js'
import { hintIfKnown, hintOfAsset, hintOfItem, hintOfType } from './absent-names.js'
import { historyToCsv, historyToJsonLines, type ValueFormat } from './history-lines.js'
import {
  askedMoments,
  csvOption,
  fromOption,
  limitOption,
  orderOption,
  readAskedRange,
  readPages,
  stateOfPage,
  toOption,
  writeToReader,
} from './history-pages.js'
import { noChanges, noteIfEmpty } from './note-if-empty.js'
import { DEMO_ITEM, handleArgument, tableItemOptions, tableItemRequest } from './table-item-request.js'

const rangeOptions = [csvOption, fromOption, toOption, orderOption, limitOption, ...storeOptions]
const accountArgument = { name: 'ADDRESS', description: 'the account, with or without 0x' }

const ABOUT_WINDOWS = `A value from before the window has the version that wrote it, without a time. If a value cannot be read at a version,
the line has the error instead. If the range begins before the window, a warning on standard error
says that changes are missing.`

export const balanceHistoryCommand: Command = {
  name: 'history balance',
  summary: 'Prints the versions at which a balance changed, one per line.',
  details: `A balance is the sum of coin store and primary store. ${ABOUT_WINDOWS}`,
  arguments: [accountArgument, { name: 'ASSET', description: 'a coin type, or the address of a fungible asset' }],
  options: rangeOptions,
  examples: [
    'ledger-state history balance 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab 0x1::aptos_coin::AptosCoin --csv --data-dir data/demo',
    'ledger-state history balance 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab 0xa --from 2025-01-01T00:12:30Z --order asc --limit 10 --data-dir data/demo',
  ],
  async run(input) {
    const owner = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const asset = parseAs('ASSET', input.argument('ASSET'), parseAsset)
    await printHistory(input, {
      name: 'this balance',
      words: 'ADDRESS and ASSET',
      hint: (state) => hintOfAsset(state, asset),
      member: 'balance',
      open: (state, options) => balanceHistory(state, owner, asset, options),
      toJson: (balance) => `"${balance}"`,
      toCell: (json) => csvCell(json.slice(1, -1)),
    })
  },
}

export const resourceHistoryCommand: Command = {
  name: 'history resource',
  summary: 'Prints the versions at which a resource changed, one per line; null if it was deleted.',
  details: ABOUT_WINDOWS,
  arguments: [accountArgument, { name: 'TYPE', description: 'its type, such as 0x1::account::Account' }],
  options: rangeOptions,
  examples: [
    'ledger-state history resource 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab 0x1::account::Account --limit 3 --data-dir data/demo',
  ],
  async run(input) {
    const address = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const type = parseAs('TYPE', input.argument('TYPE'), parseStructTag)
    await printHistory(input, {
      ...ofValues,
      name: 'this resource',
      words: 'ADDRESS and TYPE',
      hint: (state) => hintOfType(state, type),
      open: (state, options) => resourceHistory(state, address, type, options),
    })
  },
}

export const tableItemHistoryCommand: Command = {
  name: 'history table-item',
  summary: 'Prints the versions at which a table item changed, one per line; null if it was deleted.',
  details: ABOUT_WINDOWS,
  arguments: [handleArgument],
  options: [...tableItemOptions, ...rangeOptions],
  required: tableItemOptions,
  examples: [`ledger-state history table-item ${DEMO_ITEM} --limit 3 --data-dir data/demo`],
  async run(input) {
    const request = tableItemRequest(input)
    await printHistory(input, {
      ...ofValues,
      name: 'this table item',
      words: 'HANDLE, --key-type and --key',
      hint: (state) => hintOfItem(state, request),
      open: (state, options) => tableItemHistory(state, request, options),
    })
  },
}

/** Subject of a history, and the way to print its values. */
interface HistorySubject<T> {
  /** Name of the subject in a sentence. */
  readonly name: string
  /** Words of the command line that name it. */
  readonly words: string
  /** The name in these words that a state does not have. */
  readonly hint?: (state: LedgerState) => string | undefined
  /** Name of the value, as a member of JSON and as a column. */
  readonly member: string
  readonly open: (state: LedgerState, options: ChangeHistoryOptions) => History<Change<T>>
  /**
   * JSON of a value.
   * @throws an error that `isUnreadable` knows
   */
  readonly toJson: (value: T) => string
  readonly toCell: (json: string) => string
}

const ofValues = {
  member: 'value',
  toJson: (value: { toJson(): string } | undefined) => value?.toJson() ?? 'null',
  toCell: csvCell,
}

async function printHistory<T>(input: CommandInput, subject: HistorySubject<T>): Promise<void> {
  const moments = askedMoments(input)
  const order = input.get(orderOption)
  const store = await openLedger(storePlace(input, 'history'))
  try {
    const asked = await readAskedRange(store, moments, (state, from) => subject.open(state, { from }).complete)
    const open = (state: LedgerState, options: ChangeHistoryOptions) =>
      subject.open(state, { from: asked.from, order, ...options })
    const present = (change: Change<T>, state: LedgerState) => ({
      ...valueToJson(change, subject.toJson),
      transaction: transactionAt(state, change.version),
    })
    const advice = (ledger: Ledger) => hintIfKnown(() => subject.hint?.(stateOfPage(ledger, asked)))
    const pages = noteIfEmpty(readPages(store, asked, open, present, input.get(limitOption)), async () =>
      noChanges(subject.name, asked, (await store.read(advice)) ?? `check ${subject.words}`),
    )
    const format = formatOf(subject)
    await writeToReader(input.get(csvOption) ? historyToCsv(pages, format, asked) : historyToJsonLines(pages, format))
  } finally {
    await store.close()
  }
}

function formatOf({ member, toCell }: Pick<HistorySubject<never>, 'member' | 'toCell'>): ValueFormat<string> {
  return {
    toMembers: (json) => `"${member}":${json}`,
    columns: [member],
    toCells: (json) => [toCell(json)],
  }
}

/** The change with its value as JSON, or with the error of a value that cannot be decoded. */
function valueToJson<T>(change: Change<T>, toJson: (value: T) => string): Change<string> {
  const { version, timestampUsec } = change
  if (change.error) return change
  try {
    return { version, timestampUsec, value: toJson(change.value) }
  } catch (error) {
    if (isUnreadable(error)) return { version, timestampUsec, error }
    throw error
  }
}
