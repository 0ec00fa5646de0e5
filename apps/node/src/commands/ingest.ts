import { statSync } from 'node:fs'
import { openSource, type WindowBound } from '@ledger-state/feed'
import type { Command, CommandInput } from '../config/command.js'
import { option, parseWhole, switchOption } from '../config/option.js'
import { settings as allSettings, ingestSettings } from '../config/settings.js'
import { parseWindowBound } from '../config/window-bound.js'
import { usage, usageError } from '../errors.js'
import { ingestInto } from '../ingest/ingest-into.js'
import { notice } from '../ingest/ingest-notice.js'
import { parseIngestSettings } from '../ingest/ingest-settings.js'
import { openToIngest } from '../ingest/open-to-ingest.js'
import { proveSource } from '../ingest/prove-source.js'
import { announceWindow, describeWindow, sourceFolderOf } from '../ingest/window-of-backup.js'
import { rememberedHashSalt } from '../stores/remembered-hash-salt.js'
import { placeIfNamed, type StorePlace, storeOptions, storePlace } from '../stores/store-place.js'
import { listenForStop } from '../terminal/stop-signal.js'
import { untilStopOf } from '../until-stop.js'

const fromOption = option('from', 'VERSION', 'first version to ingest, for an empty store', parseWhole)
const toOption = option('to', 'VERSION|TIME', 'last version to ingest; with --since also a time', (text) =>
  parseWindowBound(text),
)
const followOption = switchOption('follow', 'wait for the next versions of a node, until stopped')
const rangeOption = option(
  'range',
  'FROM-TO',
  'fill an empty store with the blocks that begin within a range of versions, to be joined with others (ledger-state segments join)',
  parseRange,
)
const dryRunOption = switchOption(
  'dry-run',
  'only read and prove the source; with --since, only print the size of the download; needs no store',
)

const NOTHING_DONE = 'nothing new was ingested; the same command begins again'

/** @throws `usage` */
function parseRange(text: string): { readonly from: bigint; readonly to: bigint } {
  const [, from, to] = /^(\d+)-(\d+)$/.exec(text) ?? []
  if (from === undefined || to === undefined)
    throw usageError(`${JSON.stringify(text)} is not FROM-TO, such as 0-999999`)
  const range = { from: parseWhole(from), to: parseWhole(to) }
  if (range.from > range.to) throw usage.fromAboveTo(range.from, range.to)
  return range
}

export const ingestCommand: Command = {
  name: 'ingest',
  goesOn: true,
  summary: 'Verifies ledger data and ingests it into a store.',
  details: `Versions that the store already holds are skipped, so the same command resumes an interrupted ingest. SIGINT or SIGTERM stops
an ingest at the end of a block, with exit status 130 or 143 (with --follow, 0).
A genesis of mainnet, testnet or devnet is verified by its known waypoint, the genesis of another network only by --waypoint.
Starting from a waypoint, the ingest verifies the validators of each epoch, and their signatures in backups and state snapshots; the
backup must have its epoch_ending_* folders. For versions that came from a node, only these folders show which of them the
validators signed.`,
  arguments: [
    {
      name: 'SOURCE',
      description:
        'genesis blob, ledger feed (.ndjson, .gz, .zst), folder of a backup or of a state snapshot, one in a bucket (s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or its URL), URL of a node (…/v1), name of a network (see ledger-state networks) for its backup, or - for standard input',
    },
  ],
  options: [...storeOptions, ...ingestSettings, fromOption, toOption, rangeOption, followOption, dryRunOption],
  examples: [
    'ledger-state ingest mainnet.genesis.blob --data-dir data/mainnet',
    'ledger-state ingest backup/state_epoch_1000_ver_638021.36d1 --data-dir data/mainnet',
    'ledger-state ingest backup --data-dir data/mainnet --retain 10000000',
    'ledger-state ingest s3://bucket/e1 --data-dir data/mainnet --retain 10000000',
    'ledger-state ingest https://node.example/v1 --data-dir data/mainnet --follow',
    'ledger-state ingest backup --network mainnet --range 0-999999 --data-dir data/range-0',
    'ledger-state ingest backup --dry-run --waypoint "$(cat waypoint.txt)"',
  ],
  async run(input) {
    const settings = parseIngestSettings(input)
    const from = input.get(fromOption)
    const until = input.get(toOption)
    const { window: since } = settings.source
    if (from !== undefined && since) throw usage.fromWithSince()
    if (until && !('version' in until.bound) && !since) throw usage.timeWithoutSince(until.words)
    const to = until && 'version' in until.bound ? until.bound.version : undefined
    if (from !== undefined && to !== undefined && from > to) throw usage.fromAboveTo(from, to)
    if (since && until && isAbove(since.since, until.bound)) throw usage.sinceAboveTo(since.words, until.words)
    const isDryRun = input.get(dryRunOption)
    const place = isDryRun ? placeIfNamed(input) : storePlace(input, 'ingest')
    const range = input.get(rangeOption)
    if (range) expectRangeAlone(input, place)
    const follow = input.get(followOption)
    const named = input.argument('SOURCE')
    // Only opening shows whether a URL is a bucket's.
    if (follow && !/^https?:\/\//.test(named)) throw usage.followOfNoNode(named)
    const hashSalt = settings.source.hashSalt ?? (place && (await rememberedHashSalt(place)))
    const given = { ...settings, source: { ...settings.source, hashSalt } }
    const stop = listenForStop()
    const location = named === '-' ? '/dev/stdin' : named
    const words = [since?.words, until?.words].filter((part) => part !== undefined).join(' to ')
    const window = since && { ...since, to: until?.bound, words, isRemembered: !isDryRun }
    const sourceFolder = sourceFolderOf(place, isDryRun)
    const source = await openToIngest(
      location,
      { ...given.source, window, sourceFolder, follow, endingsAlone: true },
      stop,
    )
    if (follow && !source.isLive) {
      await source.close()
      throw usage.followOfNoNode(named)
    }
    if (isDryRun && window) {
      const print = (text: string) => void process.stdout.write(`${text}\n`)
      return await untilStopOf(stop, NOTHING_DONE, () => describeWindow(source, { ...given, place }, print))
    }
    if (isDryRun) return await proveSource(source, { from, to, stop })
    await untilStopOf(stop, NOTHING_DONE, () => announceWindow(source, { ...given, place }, notice))
    const reopen = () => openSource(location, { ...given.source, follow, signal: stop.signal })
    const openAgain = isPipe(location)
      ? undefined
      : () => openToIngest(location, { ...given.source, window, sourceFolder }, stop)
    const following = follow && { reopen, untilStopped: to === undefined }
    await ingestInto(place!, source, { ...given, hashSalt, ...following, location, openAgain, from, to, range, stop })
  },
}

/** Whether one bound is above another; a version and a time are not compared. */
function isAbove(one: WindowBound, other: WindowBound): boolean {
  if ('version' in one) return 'version' in other && one.version > other.version
  return 'timeUsec' in other && one.timeUsec > other.timeUsec
}

/** Whether a location is a pipe, which can be read only once: standard input, a named pipe or `<(…)` of a shell. */
function isPipe(location: string): boolean {
  if (/^[a-z0-9+]+:\/\//i.test(location)) return false
  const stats = statSync(location, { throwIfNoEntry: false })
  return stats !== undefined && (stats.isFIFO() || stats.isSocket())
}

/** Options that a range leaves no room for, because they depend on versions before it, or bound the ingest otherwise. */
const WITHOUT_RANGE = [
  fromOption,
  toOption,
  allSettings.since,
  allSettings.retain,
  allSettings.retainTransactions,
  allSettings.only,
  allSettings.onlyAccount,
  allSettings.onlyTable,
  allSettings.onlyType,
] as const

function expectRangeAlone(input: CommandInput, place: StorePlace | undefined): void {
  for (const option of WITHOUT_RANGE) {
    if (input.get<unknown>(option) !== undefined) throw usage.besideRange(`--${option.name}`)
  }
  for (const option of [followOption, dryRunOption, allSettings.assumeEmptyBase]) {
    if (input.get(option)) throw usage.besideRange(`--${option.name}`)
  }
  if (place?.kind === 'database') throw usage.besideRange('--store')
}
