export { decodeGroupedVersions, type GroupedVersion, type GroupedVersions } from './grouped-versions.js'
export { outlineToInfo, outlineToInfoInSteps } from './info-outline.js'
export {
  decodeTransactionBlock,
  placeOfBlock,
  type StoredTransaction,
  type TransactionBlock,
} from './transaction-block.js'
