import { readFile } from 'node:fs/promises'
import {
  ADDRESS_LENGTH,
  ByteReader,
  ByteWriter,
  isLedgerStateError,
  LedgerStateError,
  type VersionWrites,
  type Write,
} from '@ledger-state/core'
import { CHAIN_ID_RESOURCE_KEY } from './framework-keys.js'
import type { LedgerSource } from './source.js'

const TRANSACTION_GENESIS = 1
const PAYLOAD_DIRECT = 0
const WRITE_SET_V0 = 0
const STATE_KEY_ACCESS_PATH = 0
const STATE_KEY_TABLE_ITEM = 1
const STATE_KEY_RAW = 2

/** Reads a `genesis.blob`: the genesis transaction of a network, which is its version 0 and block 0. */
export async function openGenesis(path: string): Promise<LedgerSource> {
  const blob = await readFile(path)
  const { record, chainId } = parseGenesis(blob)
  let done = 0
  return {
    description: 'genesis blob',
    chainId,
    position: 'the genesis transaction',
    get progress() {
      return { done, total: blob.length, unit: 'bytes' as const }
    },
    async *versions() {
      yield record
      done = blob.length
    },
    async close() {},
  }
}

/**
 * The writes of a genesis transaction in BCS (`01`, write set payload), and the chain id that they hold.
 * Events that follow the writes are not read.
 * @throws `invalid_genesis` with the byte offset
 */
export function parseGenesis(blob: Uint8Array): { record: VersionWrites; chainId: number } {
  try {
    const reader = new ByteReader(blob)
    expectTag(reader, TRANSACTION_GENESIS, 'a genesis transaction')
    expectTag(reader, PAYLOAD_DIRECT, 'a direct write set payload')
    expectTag(reader, WRITE_SET_V0, 'a write set of version 0')
    const writes = readWrites(reader)
    const chainId = writes.find(([key]) => Buffer.compare(key, CHAIN_ID_RESOURCE_KEY) === 0)?.[1]?.[0]
    if (chainId === undefined)
      throw new LedgerStateError('invalid_genesis', 'the genesis writes no 0x1::chain_id::ChainId')
    return { record: { version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes }, chainId }
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw new LedgerStateError('invalid_genesis', `not a genesis blob: ${error.message}`, error.fields)
  }
}

function expectTag(reader: ByteReader, expected: number, what: string): void {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag !== expected) throw reader.fault(`found tag ${tag} where ${what} has ${expected}`, start)
}

function readWrites(reader: ByteReader): Write[] {
  const count = reader.readLength()
  const writes: Write[] = []
  for (let at = 0; at < count; at++) writes.push([readStateKey(reader), readWriteOp(reader)])
  return writes
}

/** A state key of a write set, in the form in which databases keep it: a table item without its length. */
function readStateKey(reader: ByteReader): Uint8Array {
  const start = reader.offset
  const kind = reader.readUleb128()
  const writer = new ByteWriter().u8(kind)
  switch (kind) {
    case STATE_KEY_ACCESS_PATH:
      return writer.bytes(reader.readBytes(ADDRESS_LENGTH)).byteString(reader.readByteString()).toBytes()
    case STATE_KEY_TABLE_ITEM:
      return writer.bytes(reader.readBytes(ADDRESS_LENGTH)).bytes(reader.readByteString()).toBytes()
    case STATE_KEY_RAW:
      return new ByteWriter().u8(0xff).bytes(reader.readByteString()).toBytes()
    default:
      throw reader.fault(`unknown kind ${kind} of state key`, start)
  }
}

/** The value that a write op sets, or null where it deletes. Tags 0 to 2 are without metadata, 3 to 5 with it. */
function readWriteOp(reader: ByteReader): Uint8Array | null {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag > 5) throw reader.fault(`unknown kind ${tag} of write`, start)
  const deletes = tag === 2 || tag === 5
  const value = deletes ? null : new Uint8Array(reader.readByteString())
  if (tag >= 3) skipMetadata(reader)
  return value
}

/** Variant 0: deposit, creation time; variant 1: slot deposit, bytes deposit, creation time; all u64. */
function skipMetadata(reader: ByteReader): void {
  const start = reader.offset
  const variant = reader.readUleb128()
  if (variant > 1) throw reader.fault(`unknown variant ${variant} of write metadata`, start)
  reader.skip(variant === 0 ? 16 : 24)
}
