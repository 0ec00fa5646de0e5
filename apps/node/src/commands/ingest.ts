import { parseU64 } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import type { Command } from '../command-line.js'
import { ingestSettings, settings } from '../config/settings.js'
import { ingestInto, parseIngestSettings, proveSource } from '../ingest-into.js'
import { option, switchOption, usageError } from '../option.js'
import { stopSignal } from '../stop-signal.js'

const fromOption = option('from', 'VERSION', 'first version to take in, for an empty store', parseU64)
const toOption = option('to', 'VERSION', 'last version to take in', parseU64)
const followOption = switchOption('follow', 'wait for what a node has next, until stopped')
const dryRunOption = switchOption('dry-run', 'only read and prove the source; needs no --data-dir')

export const ingestCommand: Command = {
  name: 'ingest',
  summary:
    'Takes ledger data into a store, proven. Versions that the store holds are skipped, so a broken ingest goes on.',
  arguments: [
    {
      name: 'SOURCE',
      description:
        'genesis.blob, ledger feed (.ndjson, .gz, .zst), backup folder, state snapshot folder, or URL of a node (…/v1)',
    },
  ],
  options: [settings.dataDir, ...ingestSettings, fromOption, toOption, followOption, dryRunOption],
  examples: [
    'ledger-state ingest mainnet.genesis.blob --data-dir data/mainnet --waypoint 0:6072b68a…',
    'ledger-state ingest backup/state_epoch_1000_ver_638021.36d1 --data-dir data/mainnet',
    'ledger-state ingest backup --data-dir data/mainnet --retain 10000000',
    'ledger-state ingest https://node.example/v1 --data-dir data/mainnet --follow',
    'ledger-state ingest backup --dry-run',
  ],
  async run(input) {
    const told = parseIngestSettings(input)
    const [from, to] = [input.get(fromOption), input.get(toOption)]
    if (from !== undefined && to !== undefined && from > to) throw usageError(`--from ${from} is above --to ${to}`)
    const isDryRun = input.get(dryRunOption)
    const dataDir = input.get(settings.dataDir)
    if (!isDryRun && dataDir === undefined) throw usageError('ingest: --data-dir DIR is missing')
    const signal = stopSignal()
    const source = await openSource(input.argument('SOURCE'), { ...told.source, follow: input.get(followOption) })
    if (isDryRun) await proveSource(source, { from, to, signal })
    else await ingestInto(dataDir!, source, { ...told, from, to, signal })
  },
}
