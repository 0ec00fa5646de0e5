import { openSource } from '@ledger-state/feed'
import { type Command, parseOptionalVersion, parseRetain } from '../command-line.js'
import { ingestInto } from '../ingest-into.js'
import { dataDirOption, retainOption } from '../shared-options.js'
import { stopSignal } from '../stop-signal.js'

export const ingestCommand: Command = {
  name: 'ingest',
  summary: 'Takes ledger data into a store. Versions that the store holds are skipped, so a broken ingest goes on.',
  arguments: [{ name: 'SOURCE', description: 'genesis.blob, or ledger feed (.ndjson, .ndjson.gz)' }],
  options: { ...dataDirOption, ...retainOption, to: { value: 'VERSION', description: 'last version to take in' } },
  examples: ['ledger-state ingest mainnet.genesis.blob --data-dir data/mainnet'],
  async run(input) {
    const options = { to: parseOptionalVersion(input, 'to'), retain: parseRetain(input), signal: stopSignal() }
    await ingestInto(input.required('data-dir'), await openSource(input.argument('SOURCE')), options)
  },
}
