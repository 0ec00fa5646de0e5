import type { Buffer } from 'node:buffer'
import { ADDRESS_LENGTH, ByteReader } from '@ledger-state/core'
import { HASH_LENGTH } from './ledger-hasher.js'

/** What a ledger commits to of one transaction. See ledger-formats.md, section 1.7. */
export interface TransactionInfo {
  readonly transactionHash: Buffer
  readonly eventRoot: Buffer
  readonly stateChangeHash: Buffer
  /** Only where a block ends. */
  readonly stateRoot: Buffer | undefined
}

const INFO_V0 = 0
const INFO_V1 = 1
/** Options behind the state change hash, the state root first. */
const OPTIONS = { [INFO_V0]: 2, [INFO_V1]: 11 } as const

const STATUS_SUCCESS = 0
const STATUS_ABORT = 2
const STATUS_EXECUTION_FAILURE = 3
const STATUS_OTHER = 4

/** Behind the tag and the gas used. */
const STATUS_AT = 9
const SHORTEST_INFO = STATUS_AT + 1 + 3 * HASH_LENGTH + OPTIONS[INFO_V0]

export function readTransactionInfo(reader: ByteReader): TransactionInfo {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag !== INFO_V0 && tag !== INFO_V1) throw reader.fault(`unknown variant ${tag} of transaction info`, start)
  reader.skip(8)
  skipStatus(reader)
  const transactionHash = reader.readBytes(HASH_LENGTH)
  const eventRoot = reader.readBytes(HASH_LENGTH)
  const stateChangeHash = reader.readBytes(HASH_LENGTH)
  const stateRoot = readOptionalHash(reader)
  for (let option = 1; option < OPTIONS[tag]; option++) readOptionalHash(reader)
  return { transactionHash, eventRoot, stateChangeHash, stateRoot }
}

function readOptionalHash(reader: ByteReader): Buffer | undefined {
  return reader.readBool() ? reader.readBytes(HASH_LENGTH) : undefined
}

function skipStatus(reader: ByteReader): void {
  const start = reader.offset
  const status = reader.readUleb128()
  if (status > STATUS_OTHER) throw reader.fault(`unknown status ${status} of a transaction`, start)
  if (status === STATUS_ABORT) {
    skipLocation(reader)
    reader.skip(8)
    if (reader.readBool()) {
      reader.readByteString()
      reader.readByteString()
    }
  } else if (status === STATUS_EXECUTION_FAILURE) {
    skipLocation(reader)
    reader.skip(4)
  } else if (status === STATUS_OTHER && reader.readBool()) reader.skip(8)
}

/** Where a program was aborted: 0 a module, 1 the script. */
function skipLocation(reader: ByteReader): void {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag > 1) throw reader.fault(`unknown variant ${tag} of abort location`, start)
  if (tag === 0) {
    reader.skip(ADDRESS_LENGTH)
    reader.readByteString()
  }
}

/**
 * The transaction hash of the info that may begin at `at`; undefined where none does. Nearly all places are ruled out
 * without an exception being made, which a search over every byte could not afford.
 */
export function peekTransactionHash(reader: ByteReader, at: number): Buffer | undefined {
  const { bytes, end } = reader
  if (bytes[at]! > INFO_V1 || bytes[at + STATUS_AT]! > STATUS_OTHER || end - at < SHORTEST_INFO) return undefined
  if (bytes[at + STATUS_AT] === STATUS_SUCCESS) {
    const hashAt = at + STATUS_AT + 1
    if (bytes[hashAt + 3 * HASH_LENGTH]! > 1) return undefined
    return bytes.subarray(hashAt, hashAt + HASH_LENGTH)
  }
  try {
    return readTransactionInfo(new ByteReader(bytes, at, end)).transactionHash
  } catch {
    return undefined
  }
}
