export { type Asset, parseAsset } from './balance.js'
export { pairedMetadataAddress, primaryStoreAddress } from './derived-address.js'
export { createLedger, type Ledger, type LedgerState, type TableItem, type TableItemRequest } from './ledger.js'
