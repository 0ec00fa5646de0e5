export { bytesToHexDigits } from '#bytes'
export {
  ADDRESS_LENGTH,
  addressToLongHex,
  addressToShortHex,
  parseAddress,
  parseAddressDigits,
} from './address.js'
export { Backoff, type BackoffOptions, pauseFor } from './backoff.js'
export { AscendingKeys } from './bcs-cursor/ascending-keys.js'
export { ByteReader, MAX_SEQUENCE_LENGTH } from './bcs-cursor/byte-reader.js'
export { ByteWriter } from './bcs-cursor/byte-writer.js'
export { hexDigitValue } from './bytes/hex-digit.js'
export { declareErrors } from './declare-errors.js'
export {
  type ErrorFields,
  type ErrorFieldsByCode,
  type FieldsOf,
  isLedgerStateError,
  LedgerStateError,
  type NoFields,
} from './error.js'
export type { ParseErrorCode } from './errors.js'
export { bytesToHex, hexToBytes } from './hex.js'
export { Lazy } from './lazy.js'
export { type BlockInfo, isSameBlock, type KeyedEntry, type VersionWrites, type Write } from './ledger-record.js'
export { type Link, LinkedList } from './linked-list.js'
export { didYouMean, nearestName } from './nearest-name.js'
export { partitionPoint } from './partition-point.js'
export { clip, quote } from './quote.js'
export { type DescribedAnswer, fetchFailure, statusFailure } from './requests/failure-texts.js'
export { isRedirect, refusedRedirect, sameServerTarget } from './requests/redirects.js'
export { parseRetryAfter } from './retry-after.js'
export { SizedCache } from './sized-cache.js'
export { sortInSteps } from './sort-in-steps.js'
export { atOnce, noSteps, type Steps } from './steps.js'
export { isU64, larger, parseU64, smaller, U64_MAX } from './u64.js'
export { bytesOfEntries, bytesOfWrites } from './written-bytes.js'
