import { existsSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import type { LedgerSource } from '@ledger-state/feed'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command, CommandInput } from '../config/command.js'
import { ingestSettings, nodeOptions, settings } from '../config/settings.js'
import { DEMO_PAGE, demoExamples } from '../demo/demo-examples.js'
import { DEMO_NETWORK, DEMO_WINDOW, isDemoLedger, openDemoLedger } from '../demo/demo-ledger.js'
import { DEMO_REQUESTS } from '../demo/demo-requests.js'
import { usage } from '../errors.js'
import { expectNoBegunSlice } from '../ingest/begin-sliced-replica.js'
import { type IngestIntoOptions, ingestInto } from '../ingest/ingest-into.js'
import { notice } from '../ingest/ingest-notice.js'
import { type IngestSettings, parseIngestSettings } from '../ingest/ingest-settings.js'
import { openToIngest } from '../ingest/open-to-ingest.js'
import { announceWindow, sourceFolderOf } from '../ingest/window-of-backup.js'
import { type NodeSettings, nodeSettings } from '../processes/node-settings.js'
import { servingLine } from '../processes/serving-line.js'
import { runNode } from '../processes/supervisor.js'
import { makeDataFolder } from '../stores/make-data-folder.js'
import { rememberFolder } from '../stores/remember-folder.js'
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
before that moment, the transactions since then, and then the versions of the network's node, or of the node of --follow.`,
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
    const stop = listenForStop()
    const from = input.get(settings.from) ?? (given.source.network ? undefined : given.source.backupOfNode)
    if (from === undefined && given.source.network && given.source.window) return await startNetwork(input, given, stop)
    const dataDir = input.get(settings.dataDir) ?? join('data', from === undefined ? 'demo' : basename(from))
    const place = { kind: 'folder', dataDir } as const
    if (!given.slice) expectNoBegunSlice(place)
    const held = await heldLedger(dataDir)
    const isUnderWay = isFirstIngestUnderWay(dataDir)
    if (isUnderWay && from === undefined && held && !isDemoLedger(held)) throw usage.firstIngestCutShort(dataDir)
    const isDemo = from === undefined && (held === undefined || isDemoLedger(held))
    // The demonstration also shows pruning: it answers 410 for versions before its window.
    const defaultRetain = isDemo ? DEMO_WINDOW : undefined
    const node = nodeSettings(input, place, defaultRetain)
    const retain = given.retain ?? defaultRetain

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
    if (stop.signal.aborted) return
    const withExamples = (settings: NodeSettings): NodeSettings =>
      isDemo
        ? { ...settings, reader: { ...settings.reader, network: DEMO_NETWORK, examples: DEMO_REQUESTS } }
        : settings
    await runNode(withExamples(node), stop.signal, {
      onListening(address, ledger) {
        const lines = [servingLine(address, ledger)]
        if (isDemo) lines.push('', requestsToTry(address, node.reader.explorer ? '/api' : '/v1/spec'))
        if (node.reader.explorer) lines.push('', `the ledger to look at: ${address}${isDemo ? DEMO_PAGE : '/'}`)
        process.stdout.write(`${lines.join('\n')}\n`)
      },
      reread: () => withExamples(nodeSettings(input.reread(), place, defaultRetain)),
    })
  },
}

/** Serves a window of a network while the window is ingested and the network is followed. */
async function startNetwork(input: CommandInput, given: IngestSettings, stop: Stop): Promise<void> {
  const { network, window, waypoints = [], unsigned = false, verify = true, keepFolder } = given.source
  const dataDir = input.get(settings.dataDir) ?? join('data', network!.name)
  const place = { kind: 'folder', dataDir } as const
  const sourceFolder = sourceFolderOf(place)!
  const of = { network: network!, since: window!.words, sourceFolder, keepFolder, waypoints, unsigned, verify }
  const wanted = { ...of, intervalMs: input.get(settings.backupInterval) }
  const read = (from: CommandInput): NodeSettings => nodeSettings(from, place, undefined, wanted)
  const node = read(input)
  if (!given.slice) expectNoBegunSlice(place)
  if ((await heldLedger(dataDir)) === undefined || isFirstIngestUnderWay(dataDir)) {
    const source = await openToIngest(network!.name, { ...given.source, sourceFolder }, stop)
    await announceWindow(source, { ...given, place }, notice)
    await source.close()
  }
  if (stop.signal.aborted) return
  await runNode(node, stop.signal, {
    onListening(address, ledger) {
      process.stdout.write(`${servingLine(address, ledger)}\n`)
      if (node.reader.explorer) process.stdout.write(`\nthe ledger to look at: ${address}/\n`)
    },
    reread: () => read(input.reread()),
  })
}

function requestsToTry(address: string, operationsPath: string): string {
  const examples = demoExamples(address).map(({ reads, line }) => `${reads}:\n  ${line}\n`)
  return `requests to try:\n\n${examples.join('')}\nall operations, each with an example: ${address}${operationsPath}\n`
}

/** Ledger of the store; undefined if there is no store, or an empty one. */
async function heldLedger(dataDir: string): Promise<LedgerSummary | undefined> {
  try {
    const engine = openStateEngineReader({ path: dataDir })
    const { ledger } = engine
    await engine.close()
    return ledger
  } catch (error) {
    if (isLedgerStateError(error, 'store_missing')) return undefined
    throw error
  }
}

/** Whether the first ingest has begun and not ended. */
function isFirstIngestUnderWay(dataDir: string): boolean {
  return existsSync(join(dataDir, INGESTING_MARK))
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
  const restoreFolder = rememberFolder(dataDir)
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
