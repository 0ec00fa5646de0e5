import { ADDRESS_LENGTH, ByteReader } from '@ledger-state/core'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'

/** The part of a transaction that the ledger commits to. See docs/ledger-formats.md, "Transaction infos". */
export interface TransactionInfo {
  readonly transactionHash: Uint8Array
  readonly eventRoot: Uint8Array
  readonly stateChangeHash: Uint8Array
  /** Root of the state after the transaction, if a block ends with it. */
  readonly stateRoot: Uint8Array | undefined
}

const INFO_V0 = 0
const INFO_V1 = 1
/** Number of options that follow the state change hash, by variant. The state root comes first. */
const OPTIONS = { [INFO_V0]: 2, [INFO_V1]: 11 } as const

const STATUS_SUCCESS = 0
const STATUS_ABORT = 2
const STATUS_EXECUTION_FAILURE = 3
const STATUS_OTHER = 4

/** Offset of the status, behind the tag and the gas used. */
const STATUS_AT = 9
const SHORTEST_INFO = STATUS_AT + 1 + 3 * HASH_LENGTH + OPTIONS[INFO_V0]

/** Reads a transaction info, and moves the cursor past it. @throws `invalid_bcs` */
export function readTransactionInfo(reader: ByteReader): TransactionInfo {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag !== INFO_V0 && tag !== INFO_V1) throw reader.fault(`unknown variant ${tag} of transaction info`, start)
  reader.skip(8)
  const hashesAt = statusEnd(reader.bytes, reader.offset, reader.end)
  if (hashesAt === undefined) throw reader.fault('unknown status of a transaction')
  reader.offset = hashesAt
  const transactionHash = reader.readBytes(HASH_LENGTH)
  const eventRoot = reader.readBytes(HASH_LENGTH)
  const stateChangeHash = reader.readBytes(HASH_LENGTH)
  const stateRoot = readOptionalHash(reader)
  for (let option = 1; option < OPTIONS[tag]; option++) readOptionalHash(reader)
  return { transactionHash, eventRoot, stateChangeHash, stateRoot }
}

function readOptionalHash(reader: ByteReader): Uint8Array | undefined {
  return reader.readOption(() => reader.readBytes(HASH_LENGTH))
}

/**
 * Transaction hash of the info that may begin at `at`; undefined if none can begin there. It throws nothing, because a
 * search tries every byte.
 */
export function peekTransactionHash(
  { bytes, end }: Pick<ByteReader, 'bytes' | 'end'>,
  at: number,
): Uint8Array | undefined {
  if (bytes[at]! > INFO_V1 || bytes[at + STATUS_AT]! > STATUS_OTHER || end - at < SHORTEST_INFO) return undefined
  const hashesAt = statusEnd(bytes, at + STATUS_AT, end)
  if (hashesAt === undefined || bytes[hashesAt + 3 * HASH_LENGTH]! > 1) return undefined
  return bytes.subarray(hashesAt, hashesAt + HASH_LENGTH)
}

/** Reads the hash of a transaction (a view), and whether it succeeded, from an info that was checked before. */
export function readOutcome(
  bytes: Uint8Array,
  infoStart: number,
): { readonly hash: Uint8Array; readonly isSuccess: boolean } {
  const hash = peekTransactionHash({ bytes, end: bytes.length }, infoStart)
  if (!hash) throw new ByteReader(bytes).fault('no transaction info', infoStart)
  return { hash, isSuccess: bytes[infoStart + STATUS_AT] === STATUS_SUCCESS }
}

/** Offset after the status that begins at `at`, if three hashes can follow it; undefined if no status begins there. */
function statusEnd(bytes: Uint8Array, at: number, end: number): number | undefined {
  let next: number | undefined = at + 1
  const status = bytes[at]!
  if (status > STATUS_OTHER) return undefined
  if (status === STATUS_ABORT) {
    next = locationEnd(bytes, next)
    if (next === undefined) return undefined
    next = optionEnd(bytes, next + 8, (name) => {
      const description = byteStringEnd(bytes, name)
      return description === undefined ? undefined : byteStringEnd(bytes, description)
    })
  } else if (status === STATUS_EXECUTION_FAILURE) {
    next = locationEnd(bytes, next)
    if (next !== undefined) next += 4
  } else if (status === STATUS_OTHER) next = optionEnd(bytes, next, (value) => value + 8)
  return next !== undefined && next + 3 * HASH_LENGTH < end ? next : undefined
}

/** Offset after the place at which a program was aborted: variant 0 is a module (address, name), 1 the script. */
function locationEnd(bytes: Uint8Array, at: number): number | undefined {
  if (bytes[at] === 1) return at + 1
  return bytes[at] === 0 ? byteStringEnd(bytes, at + 1 + ADDRESS_LENGTH) : undefined
}

function optionEnd(bytes: Uint8Array, at: number, contentEnd: (at: number) => number | undefined): number | undefined {
  if (bytes[at] === 0) return at + 1
  return bytes[at] === 1 ? contentEnd(at + 1) : undefined
}

/** Offset after a text of up to 16,383 bytes: no status has a longer one. */
function byteStringEnd(bytes: Uint8Array, at: number): number | undefined {
  const first = bytes[at]
  if (first === undefined) return undefined
  if (first < 0x80) return at + 1 + first
  const second = bytes[at + 1]
  return second !== undefined && second > 0 && second < 0x80 ? at + 2 + (first & 0x7f) + second * 128 : undefined
}
