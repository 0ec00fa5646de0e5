export { bytesToHexDigits } from '#bytes'
export {
  ADDRESS_LENGTH,
  addressToLongHex,
  addressToShortHex,
  parseAddress,
  parseAddressDigits,
} from './address.js'
export { ByteReader, MAX_SEQUENCE_LENGTH } from './bcs-cursor/byte-reader.js'
export { ByteWriter } from './bcs-cursor/byte-writer.js'
export { hexDigitValue } from './bytes/hex-digit.js'
export { type ErrorFields, isLedgerStateError, LedgerStateError } from './error.js'
export {
  noLedger,
  type ParseErrorCode,
  type StateErrorCode,
  versionNotFound,
  versionPruned,
  versionTruncated,
} from './errors.js'
export { bytesToHex, hexToBytes } from './hex.js'
export { type BlockInfo, isSameBlock, type VersionWrites, type Write } from './ledger-record.js'
export { type Link, LinkedList } from './linked-list.js'
export { clip, quote } from './quote.js'
export type {
  HistoryPage,
  RemoteErrorCode,
  RemoteHistoryOptions,
  RemoteState,
  RemoteStateSnapshot,
  RemoteStateView,
  ScanPage,
} from './remote-state-port.js'
export { SizedCache } from './sized-cache.js'
export {
  type Block,
  branchOf,
  type HistoryOptions,
  isSameLedger,
  type KeyedEntry,
  type LedgerInfo,
  type Revision,
  type ScanOptions,
  type StateEntry,
  type StateReader,
  type StateView,
  type StoreBase,
  type Truncation,
} from './state-port.js'
export { isU64, parseU64, U64_MAX } from './u64.js'
