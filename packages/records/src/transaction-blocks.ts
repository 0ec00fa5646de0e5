export { decodeGroupedVersions, type GroupedVersion } from './grouped-versions.js'
export { outlineToInfo } from './info-outline.js'
export {
  decodeTransactionBlock,
  firstVersionOfBlock,
  type StoredTransaction,
  type TransactionBlock,
} from './transaction-block.js'
