import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { larger } from '@ledger-state/core'
import { expectNotTruncated, type LedgerSummary, versionPruned } from '@ledger-state/engine'
import { csvCell, TRANSACTION_COLUMNS, transactionToCsv } from '@ledger-state/http/formats'
import {
  type Change,
  type ChangeHistoryOptions,
  firstVersionOf,
  formatTimestamp,
  type History,
  hasTransactions,
  type Ledger,
  type LedgerState,
  lastVersionOf,
  type Moment,
  parseMoment,
} from '@ledger-state/ledger'
import type { KeptTransaction } from '@ledger-state/records'
import type { CommandInput } from '../config/command.js'
import { defaultedOption, oneOf, option, switchOption, wholeNumber } from '../config/option.js'
import { usage } from '../errors.js'
import type { LedgerReader } from '../stores/ledger-reader.js'
import { untilAborted, untilStop } from '../until-stop.js'

// Options and pages that all commands with histories share.

export const fromOption = option(
  'from',
  'VERSION|TIME',
  'first version, or a time as RFC 3339 or a date (default the oldest that is known)',
  parseMoment,
)
export const toOption = option(
  'to',
  'VERSION|TIME',
  'last version, or a time as RFC 3339 or a date (default the latest version)',
  parseMoment,
)
export const orderOption = defaultedOption(
  'order',
  'asc|desc',
  'oldest or newest change first',
  'desc',
  oneOf('asc', 'desc'),
)
export const limitOption = option(
  'limit',
  'N',
  'maximum number of changes to print (default all)',
  wholeNumber(1, Number.MAX_SAFE_INTEGER),
)
export const csvOption = switchOption('csv', 'print CSV instead of JSON lines')

/**
 * Changes of a page. Each page reads the store again, so that a slow reader of the output does not keep old pages of
 * the store in use.
 */
const PAGE_CHANGES = 256

export interface AskedRange {
  readonly from: bigint | undefined
  readonly to: bigint
  /** The ledger when the command began. */
  readonly ledger: LedgerSummary
  /** Whether the store has transactions of the window. */
  readonly hasTransactions: boolean
}

/** First version of a range that the store has. */
export function firstVersionIn({ from = 0n, ledger }: AskedRange): bigint {
  return larger(from, ledger.oldestVersion)
}

/** Moments that `--from` and `--to` name. */
export interface AskedMoments {
  readonly from: Moment | undefined
  readonly to: Moment | undefined
}

/**
 * Reads `--from` and `--to`.
 * @throws if they are out of order
 */
export function askedMoments(input: CommandInput): AskedMoments {
  const [from, to] = [input.get(fromOption), input.get(toOption)]
  expectOrdered(from, to)
  return { from, to }
}

/**
 * The range of versions between two moments in a store. Warns on standard error if changes at its beginning are
 * missing.
 * @param isComplete whether the printed history has every change since a version
 */
export async function readAskedRange(
  store: LedgerReader,
  { from: fromMoment, to: toMoment }: AskedMoments,
  isComplete: (state: LedgerState, from: bigint | undefined) => boolean,
): Promise<AskedRange> {
  const { complete, ...asked } = await store.read((ledger) => {
    const state = ledger.at(toMoment && lastVersionOf(ledger, toMoment))
    const from = fromMoment && firstVersionOf(ledger, fromMoment)
    const { version: to } = state
    const complete = isComplete(state, from)
    return { from, to, ledger: state.ledger, hasTransactions: hasTransactions(state), complete }
  })
  if (!complete) process.stderr.write(notComplete(asked.ledger.oldestVersion))
  return asked
}

/**
 * Checks the order of two moments. A version and a time are not compared: only the store knows the version at a time.
 */
function expectOrdered(from: Moment | undefined, to: Moment | undefined): void {
  if (!from || !to) return
  if ('version' in from && 'version' in to && from.version > to.version)
    throw usage.fromAboveTo(from.version, to.version)
  if ('timestampUsec' in from && 'timestampUsec' in to && from.timestampUsec > to.timestampUsec)
    throw usage.fromAfterTo()
}

/**
 * The state up to which a command reads, for a further page.
 * @throws `version_truncated` if it was cut off since the command began
 */
export function stateOfPage(now: Ledger, { to, ledger }: Pick<AskedRange, 'to' | 'ledger'>): LedgerState {
  const state = now.at(to)
  expectNotTruncated(to, ledger, state.ledger)
  return state
}

/**
 * Yields the changes page by page, up to the limit. `present` runs while the state can be read. A page may be shorter
 * than its limit, because writes that change nothing count, too.
 * @throws `version_pruned` if a prune may have taken changes away meanwhile; `version_truncated`
 */
export async function* readPages<T, R extends ChangeMoment>(
  store: LedgerReader,
  asked: AskedRange,
  open: (state: LedgerState, options: ChangeHistoryOptions) => History<Change<T>>,
  present: (change: Change<T>, state: LedgerState) => R,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<R[]> {
  const { from = 0n } = asked
  const { oldestVersion } = asked.ledger
  let left = limit
  let start: bigint | undefined
  do {
    const page = await store.read((ledger) => {
      const state = stateOfPage(ledger, asked)
      const history = open(state, { start, limit: Math.min(left, PAGE_CHANGES) })
      const changes = Array.from(history, (change) => present(change, state))
      return { changes, cursor: history.cursor, oldestNow: state.ledger.oldestVersion }
    })
    const { changes, cursor, oldestNow } = page
    const isTouched = changes.some(({ version }) => version <= oldestNow) || (cursor === undefined && from <= oldestNow)
    if (oldestNow > oldestVersion && isTouched) throw versionPruned(oldestVersion, oldestNow)
    yield changes
    left -= changes.length
    start = cursor
  } while (start !== undefined && left > 0)
}

type ChangeMoment = Pick<Change<unknown>, 'version' | 'timestampUsec'>

/** A change as it is printed, with the transaction that made it if the store has that. */
export type PrintedChange<T> = Change<T> & { readonly transaction: KeptTransaction | undefined }

/** Last cells of a CSV line, each after a comma; empty if the store has no transactions. */
export function transactionCells({ transaction }: PrintedChange<unknown>, { hasTransactions }: AskedRange): string {
  return hasTransactions ? transactionToCsv(transaction) : ''
}

/** Names of the last columns of CSV. */
export function transactionColumns({ hasTransactions }: AskedRange): string {
  return hasTransactions ? TRANSACTION_COLUMNS : ''
}

/** First cells of each CSV line of a history. */
export function momentToCsv({ version, timestampUsec }: ChangeMoment): string {
  const time = timestampUsec === undefined ? '' : csvCell(formatTimestamp(timestampUsec))
  return `${version},${timestampUsec ?? ''},${time}`
}

/**
 * Writes to standard output as fast as it is read. If the reader leaves, as `head` does, writing ends without an error.
 * @throws `stopped`; the errors of the pieces
 */
export async function writeToReader(pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  await untilStop('the output is not complete; the same command begins again', async (signal) => {
    try {
      await pipeline(Readable.from(untilAborted(pieces, signal)), process.stdout, { end: false, signal })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    }
  })
}

function notComplete(oldestVersion: bigint): string {
  return `warning: the history is not complete: writes before version ${oldestVersion} are unknown\n`
}
