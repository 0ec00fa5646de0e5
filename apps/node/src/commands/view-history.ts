import { viewResultToCsv } from '@ledger-state/http'
import {
  type Change,
  formatTimestamp,
  type LedgerState,
  momentToTime,
  mostResults,
  parseInterval,
  transactionAt,
  type ViewAnswer,
  type ViewHistoryOptions,
  type ViewRequest,
  viewHistory,
} from '@ledger-state/ledger'
import type { CommandInput } from '../config/command.js'
import { oneOf, option, switchOption } from '../config/option.js'
import { exportFailed, usageError } from '../errors.js'
import { viewHistoryToParquet } from '../parquet/view-history-file.js'
import type { LedgerReader } from '../stores/ledger-reader.js'
import { formatCounted, formatShare } from '../terminal/amounts.js'
import { writeNotice } from '../terminal/notice.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { hintIfKnown, hintOfFunction } from './absent-names.js'
import { historyToCsv, historyToJsonLines } from './history-lines.js'
import {
  type AskedMoments,
  type AskedRange,
  askedMoments,
  csvOption,
  firstVersionIn,
  fromOption,
  limitOption,
  orderOption,
  type PrintedChange,
  readAskedRange,
  readPages,
  stateOfPage,
  toOption,
  writeToReader,
} from './history-pages.js'
import { noChanges, noteIfEmpty } from './note-if-empty.js'

const everyOption = option(
  'every',
  'DURATION',
  'points in time instead of changes, such as 30s, 15m, 1h, 1d or 1w',
  parseInterval,
)
const formatOption = option(
  'format',
  'FORMAT',
  'parquet: print a Parquet file, for standard output that is a file or a pipe',
  oneOf('parquet'),
)
const ignoreClockOption = switchOption(
  'ignore-clock',
  'ignore writes of the block time, even if the view reads it: some changes may be missing',
)

/** Time after which a page ends: no signal is noticed within it, and each run of a view may take long. */
const PAGE_MS = 100

/** Options that only `--history` uses. */
export const VIEW_HISTORY_OPTIONS = [
  fromOption,
  toOption,
  orderOption,
  limitOption,
  csvOption,
  formatOption,
  everyOption,
  ignoreClockOption,
] as const

/** Names of the given options; the order always has a value and is left out. */
export function namesOfHistoryOptions(input: CommandInput): readonly string[] {
  const given = [fromOption, toOption, limitOption, everyOption, formatOption].filter(
    (one) => input.get<unknown>(one) !== undefined,
  )
  const switched = [csvOption, ignoreClockOption].filter((one) => input.get(one))
  return [...given, ...switched].map(({ name }) => name)
}

/** Prints each change of a view's answer, or its answers at points in time, as lines of JSON or CSV, or as Parquet. */
export async function printViewHistory(store: LedgerReader, request: ViewRequest, input: CommandInput): Promise<void> {
  const isParquet = input.get(formatOption) === 'parquet'
  if (isParquet && input.get(csvOption)) throw usageError('--csv and --format parquet are both given')
  if (isParquet && process.stdout.isTTY)
    throw usageError('--format parquet prints bytes: send them to a file, as in > view.parquet')
  const everyUsec = input.get(everyOption)
  const moments = askedMoments(input)
  const { from, to } = moments
  const options: ViewHistoryOptions = {
    order: input.get(orderOption),
    sample: everyUsec === undefined ? undefined : { everyUsec, fromUsec: momentToTime(from), toUsec: momentToTime(to) },
    ignoresClock: input.get(ignoreClockOption),
  }
  const range = await readAskedRange(store, moments, (state, from) => viewHistory(state, request, { from }).complete)
  const absent = await store.read((ledger) => hintIfKnown(() => hintOfFunction(stateOfPage(ledger, range), request)))
  if (absent !== undefined) writeNotice(`at version ${range.to}, ${absent}`)
  // Points in time have no transaction.
  const asked = { ...range, hasTransactions: range.hasTransactions && !options.sample }
  const open = (state: LedgerState, page: ViewHistoryOptions) =>
    viewHistory(state, request, { from: asked.from, ...options, ...page, isFull: createPageEnd() })
  const present = (change: Change<ViewAnswer>, state: LedgerState) => ({
    ...change,
    transaction: asked.hasTransactions ? transactionAt(state, change.version) : undefined,
  })
  const pages = readPages(store, asked, open, present, input.get(limitOption))
  const changes = noteIfEmpty(withProgress(pages, asked, options), () =>
    everyUsec === undefined || firstVersionIn(asked) > asked.to
      ? noChanges('this view', asked)
      : noPointInTime(store, everyUsec, asked, moments),
  )
  if (!isParquet && !input.get(csvOption)) {
    await writeToReader(historyToJsonLines(changes, { toMembers: ({ json }) => `"values":[${json.join()}]` }))
    return
  }
  const columns = resultColumns(
    await store.read((ledger) => mostResults(stateOfPage(ledger, asked), request, asked.from ?? 0n)),
  )
  const fitting = withinColumns(changes, columns.length)
  const toCells = ({ json }: ViewAnswer) => json.map(viewResultToCsv)
  await writeToReader(
    isParquet ? viewHistoryToParquet(fitting, columns) : historyToCsv(fitting, { columns, toCells }, asked),
  )
}

/** Returns a function that tells whether the page is to end. */
function createPageEnd(): () => boolean {
  const until = performance.now() + PAGE_MS
  return () => performance.now() > until
}

function resultColumns(results: number): readonly string[] {
  return results > 1 ? Array.from({ length: results }, (_, at) => `result_${at}`) : ['result']
}

type Changes = AsyncIterable<readonly PrintedChange<ViewAnswer>[]>

/** @throws `export_failed` for an answer with more results than columns */
export async function* withinColumns(
  pages: Changes,
  columns: number,
): AsyncGenerator<readonly PrintedChange<ViewAnswer>[]> {
  for await (const page of pages) {
    const wider = page.find(({ value }) => value && value.json.length > columns)
    if (wider) throw exportFailed.moreResults(wider.version)
    yield page
  }
}

/** Line for people about a range without a point in time: points are multiples of the duration. */
async function noPointInTime(
  store: LedgerReader,
  everyUsec: bigint,
  asked: AskedRange,
  { from, to }: AskedMoments,
): Promise<string> {
  const [begin, end] = await store.read((ledger) => {
    const { reader } = ledger.at(asked.to).source
    const timeAt = (version: bigint) => reader.blockAt(version).block.timestampUsec
    const times = [momentToTime(from) ?? timeAt(firstVersionIn(asked)), momentToTime(to) ?? timeAt(asked.to)]
    return times.map(formatTimestamp)
  })
  const points = `points in time are the multiples of ${everyUsec / 1_000_000n} seconds since 1970`
  return `no answers: ${points}, and none is from ${begin} to ${end}, the times of the range; give a shorter --every or a longer range`
}

/** Shows on standard error how much of the range is read. */
async function* withProgress(
  pages: Changes,
  asked: AskedRange,
  { order }: ViewHistoryOptions,
): AsyncGenerator<readonly PrintedChange<ViewAnswer>[]> {
  const { to } = asked
  const first = firstVersionIn(asked)
  const line = createProgressLine(process.stderr)
  let printed = 0
  try {
    for await (const page of pages) {
      printed += page.length
      const at = page.at(-1)?.version
      const done = at === undefined ? 0 : Number(order === 'asc' ? at - first : to - at)
      line.update((seconds) => `${formatCounted(printed, 'answer')}, ${formatShare(done, Number(to - first), seconds)}`)
      yield page
    }
  } finally {
    line.finish()
  }
}
