import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseAddress } from '@ledger-state/core'
import { versionPruned } from '@ledger-state/engine'
import {
  type Change,
  firstVersionOf,
  formatTimestamp,
  type History,
  type HistoryOptions,
  type LedgerState,
  lastVersionOf,
  type Moment,
  parseAsset,
  parseMoment,
} from '@ledger-state/ledger'
import type { Command } from '../config/command.js'
import { defaultedOption, oneOf, option, parseAs, switchOption, wholeNumber } from '../config/option.js'
import { fromAboveTo, fromAfterTo } from '../errors.js'
import { type LedgerReader, openLedger } from '../stores/ledger-reader.js'
import { storeOptions, storePlace } from '../stores/store-place.js'

const fromOption = option(
  'from',
  'VERSION|TIME',
  'first version, or a time as RFC 3339 or a date (default the oldest that is known)',
  parseMoment,
)
const toOption = option(
  'to',
  'VERSION|TIME',
  'last version, or a time as RFC 3339 or a date (default the latest version)',
  parseMoment,
)
const orderOption = defaultedOption('order', 'asc|desc', 'oldest or newest change first', 'desc', oneOf('asc', 'desc'))
const limitOption = option('limit', 'N', 'most changes to print (default all)', wholeNumber(1, Number.MAX_SAFE_INTEGER))
const csvOption = switchOption('csv', 'print CSV in place of JSON lines')

/** Each page reads the store anew, so that a reader of the output who takes long keeps no old pages of the store in use. */
const PAGE_CHANGES = 256

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
    const order = input.get(orderOption) === 'asc' ? 'oldestFirst' : 'newestFirst'
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
      await writeToReader(lines(pages(store, asked, open, input.get(limitOption))))
    } finally {
      await store.close()
    }
  },
}

/** A version and a time are not compared: which block the time has is known to the store alone. */
function expectOrdered(from: Moment | undefined, to: Moment | undefined): void {
  if (!from || !to) return
  if ('version' in from && 'version' in to && from.version > to.version) throw fromAboveTo(from.version, to.version)
  if ('timestampUsec' in from && 'timestampUsec' in to && from.timestampUsec > to.timestampUsec) throw fromAfterTo()
}

interface AskedRange {
  readonly from: bigint | undefined
  readonly to: bigint
  /** Of the ledger when the command began. */
  readonly oldestVersion: bigint
}

/**
 * The changes of all pages, until the limit. A page may end sooner than its own: where writes changed nothing.
 * @throws `version_pruned` where a prune may have taken changes away meanwhile
 */
async function* pages<T>(
  store: LedgerReader,
  { from = 0n, to, oldestVersion }: AskedRange,
  open: (state: LedgerState, options: HistoryOptions) => History<Change<T>>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Change<T>[]> {
  let left = limit
  let start: bigint | undefined
  do {
    const page = await store.read((ledger) => {
      const state = ledger.at(to)
      const history = open(state, { start, limit: Math.min(left, PAGE_CHANGES) })
      return { changes: [...history], cursor: history.cursor, oldestNow: state.ledger.oldestVersion }
    })
    const { changes, cursor, oldestNow } = page
    const isTouched = changes.some(({ version }) => version <= oldestNow) || (cursor === undefined && from <= oldestNow)
    if (oldestNow > oldestVersion && isTouched) throw versionPruned(oldestVersion, oldestNow)
    yield changes
    left -= changes.length
    start = cursor
  } while (start !== undefined && left > 0)
}

async function* csvPieces(changes: AsyncIterable<readonly Change<bigint>[]>): AsyncGenerator<string> {
  yield 'version,timestamp,time,balance,error\n'
  for await (const page of changes) yield page.map(changeToCsvLine).join('')
}

async function* jsonPieces(changes: AsyncIterable<readonly Change<bigint>[]>): AsyncGenerator<string> {
  for await (const page of changes) yield page.map(changeToJsonLine).join('')
}

function changeToCsvLine({ version, timestampUsec, value, error }: Change<bigint>): string {
  const message = error ? `"${error.message.replaceAll('"', '""')}"` : ''
  const time = timestampUsec === undefined ? '' : formatTimestamp(timestampUsec)
  return `${version},${timestampUsec ?? ''},${time},${value ?? ''},${message}\n`
}

function changeToJsonLine({ version, timestampUsec, value, error }: Change<bigint>): string {
  const timestamp = timestampUsec === undefined ? null : String(timestampUsec)
  const reading = error ? { error: error.message } : { balance: String(value) }
  return `${JSON.stringify({ version: String(version), timestamp, ...reading })}\n`
}

/** Writes to standard output as fast as it is read. A reader that leaves, as `head` does, ends it without an error. */
async function writeToReader(pieces: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(pieces), process.stdout, { end: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

function notComplete(oldestVersion: bigint): string {
  return `warning: the history is not complete: what was written before version ${oldestVersion} is not known\n`
}
