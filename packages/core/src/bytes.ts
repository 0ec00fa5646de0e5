// Byte operations of the format packages, for any runtime.
export {
  allocateBytes,
  allocatePooled,
  bytesToHexDigits,
  bytesToLatin1,
  compareBytes,
  decodeUtf8,
  indexOfBytes,
  partToHexDigits,
  utf8Length,
  viewBytes,
  writeAscii,
  writeHexBytes,
  writeHexDigits,
  writeUtf8,
} from '#bytes'
export { copyBytes } from './bytes/copy-bytes.js'
export { keyAfter } from './bytes/key-after.js'
export { beginsWith, isSameBytes } from './bytes/same-bytes.js'
