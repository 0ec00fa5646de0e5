import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { LedgerStateError } from '@ledger-state/core'
import { type LedgerSource, openSource } from '@ledger-state/feed'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../command-line.js'
import { demoCurlLines } from '../demo/demo-examples.js'
import { DEMO_CHAIN_ID, DEMO_WINDOW, openDemoLedger } from '../demo/demo-ledger.js'
import { type IngestSettings, ingestInto, parseIngestSettings } from '../ingest-into.js'
import { parseServeSettings, serveDataDir } from '../serve-data-dir.js'
import { dataDirOption, ingestOptions, serveOptions } from '../shared-options.js'
import { stopSignal } from '../stop-signal.js'

/** Stands in the data folder while a first ingest is under way, so that one that was cut short is gone on with. */
const INGESTING_MARK = 'ingest-under-way'

export const startCommand: Command = {
  name: 'start',
  summary: 'Ingests a source, by default a demonstration ledger, unless the store holds one already; then serves it.',
  arguments: [],
  options: {
    'data-dir': {
      ...dataDirOption['data-dir'],
      description: 'folder of the store (default data/<name of the source>)',
      required: false,
    },
    from: { value: 'SOURCE', description: 'as of ingest (default: the demonstration ledger)' },
    ...ingestOptions,
    ...serveOptions,
  },
  examples: ['ledger-state start', 'ledger-state start --from mainnet.genesis.blob'],
  async run(input) {
    const settings = parseServeSettings(input)
    const ingestSettings = parseIngestSettings(input)
    const signal = stopSignal()
    const from = input.option('from')
    const dataDir = input.option('data-dir') ?? join('data', from === undefined ? 'demo' : basename(from))
    const isDemo = from === undefined
    // The demonstration shows the window, too: versions before it answer 410.
    const retain = settings.retain ?? (isDemo ? DEMO_WINDOW : undefined)

    if (await needsIngest(dataDir)) {
      const source = isDemo ? openDemoLedger() : await openSource(from, ingestSettings.source)
      await ingestMarked(dataDir, source, { ...ingestSettings, retain, signal })
    }
    if (signal.aborted) return
    await serveDataDir(dataDir, settings, signal, (address, ledger) => {
      const { chainId, oldestVersion, latestVersion } = ledger.info!
      const lines = [`serving versions ${oldestVersion} to ${latestVersion} of chain ${chainId} on ${address}/v1`]
      if (isDemo && chainId === DEMO_CHAIN_ID) lines.push('', ...demoCurlLines(address), '')
      process.stdout.write(`${lines.join('\n')}\n`)
    })
  },
}

async function needsIngest(dataDir: string): Promise<boolean> {
  if (existsSync(join(dataDir, INGESTING_MARK))) return true
  try {
    const engine = openStateEngineReader({ path: dataDir })
    const empty = engine.ledger === undefined
    await engine.close()
    return empty
  } catch (error) {
    if (error instanceof LedgerStateError && error.code === 'store_missing') return true
    throw error
  }
}

async function ingestMarked(
  dataDir: string,
  source: LedgerSource,
  options: IngestSettings & { readonly signal: AbortSignal },
): Promise<void> {
  const mark = join(dataDir, INGESTING_MARK)
  await mkdir(dataDir, { recursive: true })
  await writeFile(mark, `${source.description}\n`)
  await ingestInto(dataDir, source, options)
  if (!options.signal.aborted) await rm(mark)
}
