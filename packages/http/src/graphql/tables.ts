import type { AnyTable } from './table.js'
import { CURRENT_COLLECTION_OWNERSHIPS } from './tables/current-collection-ownerships.js'
import { CURRENT_COLLECTIONS } from './tables/current-collections.js'
import { CURRENT_FUNGIBLE_ASSET_BALANCES } from './tables/current-fungible-asset-balances.js'
import { CURRENT_OBJECTS } from './tables/current-objects.js'
import { CURRENT_TOKEN_DATAS } from './tables/current-token-datas.js'
import { CURRENT_TOKEN_OWNERSHIPS } from './tables/current-token-ownerships.js'
import { EVENTS } from './tables/events.js'
import { FUNGIBLE_ASSET_METADATA } from './tables/fungible-asset-metadata.js'
import { LEDGER_INFOS, PROCESSOR_STATUS } from './tables/ledger-tables.js'

/** All tables that documents can ask for. */
export const TABLES: readonly AnyTable[] = [
  CURRENT_FUNGIBLE_ASSET_BALANCES,
  FUNGIBLE_ASSET_METADATA,
  CURRENT_OBJECTS,
  CURRENT_TOKEN_OWNERSHIPS,
  CURRENT_TOKEN_DATAS,
  CURRENT_COLLECTIONS,
  CURRENT_COLLECTION_OWNERSHIPS,
  EVENTS,
  PROCESSOR_STATUS,
  LEDGER_INFOS,
]
