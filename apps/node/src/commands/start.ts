import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { LedgerStateError } from '@ledger-state/core'
import { type LedgerSource, openSource } from '@ledger-state/feed'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../command-line.js'
import { ingestSettings, serveSettings, settings } from '../config/settings.js'
import { demoCurlLines } from '../demo/demo-examples.js'
import { DEMO_CHAIN_ID, DEMO_WINDOW, openDemoLedger } from '../demo/demo-ledger.js'
import { type IngestSettings, ingestInto, parseIngestSettings } from '../ingest-into.js'
import { nodeSettings } from '../node-settings.js'
import { runNode } from '../processes/supervisor.js'
import { stopSignal } from '../stop-signal.js'
import { servingLine } from './serve.js'

/** Stands in the data folder while a first ingest is under way, so that one that was cut short is gone on with. */
const INGESTING_MARK = 'ingest-under-way'

export const startCommand: Command = {
  name: 'start',
  summary: 'Ingests a source, by default a demonstration ledger, unless the store holds one already; then serves it.',
  arguments: [],
  options: [
    { ...settings.dataDir, description: `${settings.dataDir.description} (default data/<name of the source>)` },
    settings.from,
    ...new Set([...ingestSettings, ...serveSettings]),
  ],
  examples: ['ledger-state start', 'ledger-state start --from mainnet.genesis.blob'],
  async run(input) {
    const told = parseIngestSettings(input)
    const signal = stopSignal()
    const from = input.get(settings.from)
    const dataDir = input.get(settings.dataDir) ?? join('data', from === undefined ? 'demo' : basename(from))
    const isDemo = from === undefined
    // The demonstration shows the window, too: versions before it answer 410.
    const defaultRetain = isDemo ? DEMO_WINDOW : undefined
    const node = nodeSettings(input, dataDir, defaultRetain)
    const retain = told.retain ?? defaultRetain

    if (await needsIngest(dataDir)) {
      const source = isDemo ? openDemoLedger() : await openSource(from, told.source)
      await ingestMarked(dataDir, source, { ...told, retain, signal })
    }
    if (signal.aborted) return
    await runNode(node, signal, {
      onListening(address, ledger) {
        const lines = [servingLine(address, ledger)]
        if (isDemo && ledger?.chainId === BigInt(DEMO_CHAIN_ID)) lines.push('', ...demoCurlLines(address), '')
        process.stdout.write(`${lines.join('\n')}\n`)
      },
      reread: () => nodeSettings(input.reread(), dataDir, defaultRetain),
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
