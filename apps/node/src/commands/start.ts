import { existsSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isPresent } from '@ledger-state/core/files'
import type { LedgerSummary } from '@ledger-state/engine'
import type { LedgerSource, Network } from '@ledger-state/feed'
import { withSystemErrorsAsync } from '@ledger-state/state-engine'
import type { Command, CommandInput } from '../config/command.js'
import type { Option } from '../config/option.js'
import { ingestSettings, nodeOptions, settings } from '../config/settings.js'
import { DEMO_PAGE, demoExamples } from '../demo/demo-examples.js'
import { DEMO_NETWORK, DEMO_WINDOW, isDemoLedger, openDemoLedger } from '../demo/demo-ledger.js'
import { DEMO_REQUESTS } from '../demo/demo-requests.js'
import { usage } from '../errors.js'
import { beginReplica } from '../ingest/begin-replica.js'
import { expectNoBegunSlice } from '../ingest/begin-sliced-replica.js'
import { type IngestIntoOptions, ingestInto } from '../ingest/ingest-into.js'
import { notice } from '../ingest/ingest-notice.js'
import { type IngestSettings, parseIngestSettings } from '../ingest/ingest-settings.js'
import { openToIngest } from '../ingest/open-to-ingest.js'
import { announceWindow, sourceFolderOf } from '../ingest/window-of-backup.js'
import { type NodeSettings, nodeSettings, type RereadSettings, rereadSettings } from '../processes/node-settings.js'
import { servingLine } from '../processes/serving-line.js'
import { runNode } from '../processes/supervisor.js'
import { expectNoBegunCopy } from '../stores/begun-copy.js'
import { hasPartOfState, heldLedger } from '../stores/held-ledger.js'
import { makeDataFolder } from '../stores/make-data-folder.js'
import { rememberFolder } from '../stores/remember-folder.js'
import type { FolderPlace } from '../stores/store-place.js'
import { listenForStop, type Stop } from '../terminal/stop-signal.js'

/**
 * File in the data folder during a first ingest. If it exists at the start, the ingest was cut short and is resumed.
 */
const INGESTING_MARK = 'ingest-under-way'

export const startCommand: Command = {
  name: 'start',
  goesOn: true,
  summary: 'Ingests a source, by default a demonstration ledger, unless the store holds one already; then serves it.',
  details: `With --network and --since, and without --from, it serves while it ingests: the newest state of the network's backup at or
before that moment, the transactions since then, and then the versions of the network's node, or of the node of --follow.
With --replica-of, and without --from, an empty folder begins with a snapshot of the other node's store.`,
  arguments: [],
  options: [
    { ...settings.dataDir, description: `${settings.dataDir.description} (default data/<name of the source>)` },
    settings.from,
    settings.backupInterval,
    ...new Set([...ingestSettings, ...nodeOptions]),
  ],
  examples: [
    'ledger-state start',
    'ledger-state start --from mainnet.genesis.blob',
    'ledger-state start --network mainnet --since 7d --data-dir data/mainnet',
    'ledger-state start --network mainnet --since 7d --from-node http://node-a:8090',
  ],
  async run(input) {
    const given = parseIngestSettings(input)
    const { network, window, backupOfNode } = given.source
    const from = input.get(settings.from) ?? (network ? undefined : backupOfNode)
    const replicaOf = input.get(settings.replicaOf)
    const source = from ?? network?.name ?? replicaOf
    const folder = input.get(settings.dataDir)
    const dataDir = folder ?? join('data', basename(source ?? 'demo'))
    const place = { kind: 'folder', dataDir } as const
    if (!given.slice) expectNoBegunSlice(place)
    expectNoBegunCopy(place)
    const held = await heldLedger(dataDir)
    if (held && given.chainId !== undefined && held.chainId !== BigInt(given.chainId))
      throw usage.otherChain(dataDir, held.chainId, given.chainId)
    const isUnderWay = await withSystemErrorsAsync(dataDir, async () => isPresent(join(dataDir, INGESTING_MARK)))
    const start = { input, given, place, held, isUnderWay }
    if (from === undefined && network && window) return await startNetwork(start, network, window.words)
    if (from === undefined) {
      // The demonstration has no state.
      const isOfOther = held
        ? isUnderWay && !isDemoLedger(held)
        : source === undefined && (await hasPartOfState(dataDir))
      if (isOfOther) throw usage.firstIngestCutShort(dataDir)
      const isForDemo = source === undefined && folder === undefined
      if (held === undefined || isForDemo) expectNoOptionOfSource(input, replicaOf !== undefined)
      if (replicaOf !== undefined) return await startReplica(start, replicaOf)
    }
    await startSource(start, from)
  },
}

/** A start of a node, and what the folder of its store holds. */
interface Start {
  readonly input: CommandInput
  readonly given: IngestSettings
  readonly place: FolderPlace
  /** Ledger of the store; undefined if there is no store, or an empty one. */
  readonly held: LedgerSummary | undefined
  /** Whether the first ingest has begun and not ended. */
  readonly isUnderWay: boolean
}

/** Ingests a source, by default the demonstration ledger, unless the store holds a ledger. Then serves the store. */
async function startSource({ input, given, place, held, isUnderWay }: Start, from: string | undefined): Promise<void> {
  const { dataDir } = place
  const isDemo = from === undefined && (held === undefined || isDemoLedger(held))
  // The demonstration also shows pruning: it answers 410 for versions before its window.
  const defaultRetain = isDemo ? DEMO_WINDOW : undefined
  const read = (from: CommandInput): NodeSettings => {
    const node = nodeSettings(from, place, defaultRetain)
    return isDemo ? { ...node, reader: { ...node.reader, network: DEMO_NETWORK, examples: DEMO_REQUESTS } } : node
  }
  const node = read(input)
  const retain = given.retain ?? defaultRetain
  const stop = listenForStop()
  if (held === undefined || isUnderWay) {
    const sourceFolder = sourceFolderOf(place)
    const openAgain = async () =>
      from === undefined ? openDemoLedger() : await openToIngest(from, { ...given.source, sourceFolder }, stop)
    const source = await openAgain()
    await announceWindow(source, { ...given, place, retain }, notice)
    const location = from ?? 'the demonstration ledger'
    await ingestMarked(dataDir, source, { ...given, location, openAgain, retain, stop })
  } else if (from !== undefined) {
    notice(leftUnread(from, dataDir, held))
  }
  await serveLedger(node, () => rereadSettings(input, read), stop, isDemo)
}

/** Serves a window of a network while the window is ingested and the network is followed. */
async function startNetwork(
  { input, given, place, held, isUnderWay }: Start,
  network: Network,
  since: string,
): Promise<void> {
  const sourceFolder = sourceFolderOf(place)!
  const read = (from: CommandInput): NodeSettings => {
    const { waypoints = [], unsigned = false, verify = true, keepFolder, ...now } = parseIngestSettings(from).source
    if (!now.network) throw usage.networkRemoved()
    const intervalMs = from.get(settings.backupInterval)
    const window = { network: now.network, since, sourceFolder, keepFolder, waypoints, unsigned, verify, intervalMs }
    return nodeSettings(from, place, undefined, window)
  }
  const node = read(input)
  const stop = listenForStop()
  if (held === undefined || isUnderWay) {
    const source = await openToIngest(network.name, { ...given.source, sourceFolder }, stop)
    await announceWindow(source, { ...given, place }, notice)
    await source.close()
  }
  await serveLedger(node, () => rereadSettings(input, read), stop)
}

/** Serves a replica of another node, which begins with a snapshot of its store. */
async function startReplica({ input, given, place }: Start, url: string): Promise<void> {
  const node = nodeSettings(input, place)
  const stop = listenForStop()
  await beginReplica(url, place, given.slice, stop)
  await serveLedger(node, () => rereadSettings(input, (from) => nodeSettings(from, place)), stop)
}

/** Runs the node, and prints addresses to begin with once it serves. */
async function serveLedger(
  node: NodeSettings,
  reread: () => RereadSettings,
  stop: Stop,
  isDemo = false,
): Promise<void> {
  if (stop.signal.aborted) return
  const { explorer } = node.reader
  await runNode(node, stop.signal, {
    onListening(address, ledger) {
      const lines = [servingLine(address, ledger)]
      if (isDemo) lines.push('', requestsToTry(address, explorer ? '/api' : '/v1/spec'))
      if (explorer) lines.push('', `web page of the ledger: ${address}${isDemo ? DEMO_PAGE : '/'}`)
      process.stdout.write(`${lines.join('\n')}\n`)
    },
    reread,
  })
}

/** Options about a source that is ingested. */
const OPTIONS_OF_SOURCE: readonly Option<unknown>[] = [
  settings.since,
  settings.waypoints,
  settings.unsigned,
  settings.keepChunks,
  settings.chainId,
  settings.assumeEmptyBase,
]
/** Options that the demonstration ledger would contradict, because it has no network and no node to follow. */
const OPTIONS_BESIDE_DEMO: readonly Option<unknown>[] = [
  settings.follow,
  settings.network,
  settings.hashSalt,
  ...OPTIONS_OF_SOURCE,
]

/**
 * Refuses options that ask for a source, for a store that begins without one.
 * @throws `usage`
 */
function expectNoOptionOfSource(input: CommandInput, isReplica: boolean): void {
  const refused = isReplica ? OPTIONS_OF_SOURCE : OPTIONS_BESIDE_DEMO
  const given = refused.find((option) => (input.get<unknown>(option) ?? false) !== false)
  if (given) throw usage.optionWithoutSource(given.name)
}

function requestsToTry(address: string, operationsPath: string): string {
  const examples = demoExamples(address).map(({ reads, line }) => `${reads}:\n  ${line}\n`)
  return `requests to try:\n\n${examples.join('')}\nall operations, each with an example: ${address}${operationsPath}`
}

function leftUnread(from: string, dataDir: string, held: LedgerSummary): string {
  const isAbsent = !/^[a-z0-9]+:\/\//.test(from) && !existsSync(from)
  const advice = isAbsent
    ? `there is no ${from}`
    : `to add to the store: ledger-state ingest ${from} --data-dir ${dataDir}`
  return `--from ${from} is not read, for the store in ${dataDir} holds versions ${held.oldestVersion} to ${held.latestVersion} already; ${advice}`
}

async function ingestMarked(dataDir: string, source: LedgerSource, options: IngestIntoOptions): Promise<void> {
  const mark = join(dataDir, INGESTING_MARK)
  const restoreFolder = rememberFolder(dataDir, INGESTING_MARK)
  makeDataFolder(dataDir)
  await writeFile(mark, `${source.description}\n`)
  try {
    await ingestInto({ kind: 'folder', dataDir }, source, options)
  } catch (error) {
    const holdsOnlyMark = readdirSync(dataDir).every((name) => name === INGESTING_MARK)
    if (holdsOnlyMark) restoreFolder()
    throw error
  }
  await rm(mark)
}
