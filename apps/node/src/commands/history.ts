import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseAddress } from '@ledger-state/core'
import {
  type Change,
  createLedger,
  firstVersionOf,
  type History,
  type HistoryOptions,
  lastVersionOf,
  type Moment,
  parseAsset,
  parseMoment,
} from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { defaultedOption, oneOf, option, parseAs, switchOption, wholeNumber } from '../config/option.js'
import { settings } from '../config/settings.js'
import { fromAboveTo, fromAfterTo } from '../errors.js'

const fromOption = option(
  'from',
  'VERSION|TIME',
  'first version, or a time as RFC 3339 (default the oldest that is known)',
  parseMoment,
)
const toOption = option(
  'to',
  'VERSION|TIME',
  'last version, or a time as RFC 3339 (default the latest version)',
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
it, without a time. Where the range begins before the window, a warning on standard error says that changes are missing.`,
  arguments: [
    { name: 'ADDRESS', description: 'the account, with or without 0x' },
    { name: 'ASSET', description: 'a coin type, or the address of a fungible asset' },
  ],
  options: [csvOption, fromOption, toOption, orderOption, limitOption, settings.dataDir],
  required: [settings.dataDir],
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
    const engine = openStateEngineReader({ path: input.required(settings.dataDir), verifyReads: true })
    try {
      const ledger = createLedger(engine)
      const state = ledger.at(toMoment && lastVersionOf(ledger, toMoment))
      const from = fromMoment && firstVersionOf(ledger, fromMoment)
      const open = (options: HistoryOptions) => state.balanceHistory(owner, asset, { from, order, ...options })
      if (!open({}).complete) process.stderr.write(notComplete(state.ledger.oldestVersion))
      const lines = input.get(csvOption) ? csvPieces : jsonPieces
      await writeToReader(lines(pages(open, input.get(limitOption))))
    } finally {
      await engine.close()
    }
  },
}

/** A version and a time are not compared: which block the time has is known to the store alone. */
function expectOrdered(from: Moment | undefined, to: Moment | undefined): void {
  if (!from || !to) return
  if ('version' in from && 'version' in to && from.version > to.version) throw fromAboveTo(from.version, to.version)
  if ('timestampUsec' in from && 'timestampUsec' in to && from.timestampUsec > to.timestampUsec) throw fromAfterTo()
}

/** The changes of all pages, until the limit. A page may end sooner than its own: where writes changed nothing. */
function* pages<T>(open: (options: HistoryOptions) => History<T>, limit = Number.POSITIVE_INFINITY): Generator<T[]> {
  let left = limit
  let start: bigint | undefined
  do {
    const page = open({ start, limit: Math.min(left, PAGE_CHANGES) })
    const changes = [...page]
    yield changes
    left -= changes.length
    start = page.cursor
  } while (start !== undefined && left > 0)
}

function* csvPieces(changes: Iterable<readonly Change<bigint>[]>): Generator<string> {
  yield 'version,timestamp,balance\n'
  for (const page of changes) yield page.map(changeToCsvLine).join('')
}

function* jsonPieces(changes: Iterable<readonly Change<bigint>[]>): Generator<string> {
  for (const page of changes) yield page.map(changeToJsonLine).join('')
}

function changeToCsvLine({ version, timestampUsec, value }: Change<bigint>): string {
  return `${version},${timestampUsec ?? ''},${value}\n`
}

function changeToJsonLine({ version, timestampUsec, value }: Change<bigint>): string {
  const timestamp = timestampUsec === undefined ? null : String(timestampUsec)
  return `${JSON.stringify({ version: String(version), timestamp, balance: String(value) })}\n`
}

/** Writes to standard output as fast as it is read. A reader that leaves, as `head` does, ends it without an error. */
async function writeToReader(pieces: Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(pieces), process.stdout, { end: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

function notComplete(oldestVersion: bigint): string {
  return `warning: the history is not complete: what was written before version ${oldestVersion} is not known\n`
}
