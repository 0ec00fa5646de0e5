import { bigint, text, timeOfVersion } from '../columns.js'
import { allowedTexts } from '../conditions.js'
import { faultOfField } from '../graphql-fault.js'
import type { Table } from '../table.js'

/** The programs of the indexer that fill the tables which are answered here. */
const PROCESSORS = [
  'default_processor',
  'events_processor',
  'fungible_asset_processor',
  'objects_processor',
  'token_v2_processor',
]

interface ProcessorStatus {
  readonly processor: string
  readonly version: bigint
}

/** How far the tables are: always as far as the state. */
export const PROCESSOR_STATUS: Table<ProcessorStatus> = {
  name: 'processor_status',
  needs: 'no column',
  hasAggregate: false,
  columns: {
    last_success_version: bigint((row) => row.version),
    last_transaction_timestamp: timeOfVersion((row) => row.version),
    last_updated: timeOfVersion((row) => row.version),
    processor: text((row) => row.processor),
  },
  sizeOf: () => 0,
  find({ state: { version } }, condition) {
    for (const asked of allowedTexts(condition, 'processor') ?? []) {
      if (!PROCESSORS.includes(asked))
        throw faultOfField('processor_status', `the tables of ${JSON.stringify(asked)} are not answered here`)
    }
    return PROCESSORS.map((processor) => ({ processor, version }))
  },
}

/** The chain of the ledger. */
export const LEDGER_INFOS: Table<{ readonly chainId: bigint }> = {
  name: 'ledger_infos',
  needs: 'no column',
  hasAggregate: false,
  columns: { chain_id: bigint((row) => row.chainId) },
  sizeOf: () => 0,
  find: ({ state }) => [{ chainId: state.ledger.chainId }],
}
