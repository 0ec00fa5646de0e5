import { openSource } from '@ledger-state/feed'
import { type Command, parseOptionalVersion, usageError } from '../command-line.js'
import { ingestInto, parseIngestSettings } from '../ingest-into.js'
import { dataDirOption, ingestOptions } from '../shared-options.js'
import { stopSignal } from '../stop-signal.js'
import { verifySource } from '../verify-source.js'

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
  options: {
    'data-dir': { ...dataDirOption['data-dir'], required: false },
    ...ingestOptions,
    from: { value: 'VERSION', description: 'first version to take in, for an empty store' },
    to: { value: 'VERSION', description: 'last version to take in' },
    follow: { description: 'wait for what a node has next, until stopped' },
    'dry-run': { description: 'only read and prove the source; needs no --data-dir' },
  },
  examples: [
    'ledger-state ingest mainnet.genesis.blob --data-dir data/mainnet --waypoint 0:6072b68a…',
    'ledger-state ingest backup/state_epoch_1000_ver_638021.36d1 --data-dir data/mainnet',
    'ledger-state ingest backup --data-dir data/mainnet --retain 10000000',
    'ledger-state ingest https://node.example/v1 --data-dir data/mainnet --follow',
    'ledger-state ingest backup --dry-run',
  ],
  async run(input) {
    const settings = parseIngestSettings(input)
    const [from, to] = [parseOptionalVersion(input, 'from'), parseOptionalVersion(input, 'to')]
    if (from !== undefined && to !== undefined && from > to) throw usageError(`--from ${from} is behind --to ${to}`)
    const isDryRun = input.flag('dry-run')
    const dataDir = input.option('data-dir')
    if (!isDryRun && dataDir === undefined) throw usageError('ingest: --data-dir DIR is missing')
    const signal = stopSignal()
    const source = await openSource(input.argument('SOURCE'), { ...settings.source, follow: input.flag('follow') })
    if (isDryRun) await verifySource(source, { from, to, signal })
    else await ingestInto(dataDir!, source, { ...settings, from, to, signal })
  },
}
