import type { Buffer } from 'node:buffer'
import { type ByteReader, ByteWriter } from '@ledger-state/core'
import { HASH_LENGTH, type LedgerHasher } from './ledger-hasher.js'

/** What validators sign: the ledger up to a version. Its signatures are not checked. See docs/ledger-formats.md, section "Backups". */
export interface LedgerInfoProof {
  readonly accumulatorRoot: Buffer
  readonly version: bigint
}

/** Reads a ledger info with signatures; what stands behind the version is passed over to the end. */
export function readLedgerInfo(reader: ByteReader): LedgerInfoProof {
  const start = reader.offset
  const tag = reader.readUleb128()
  if (tag !== 0) throw reader.fault(`unknown variant ${tag} of ledger info`, start)
  reader.skip(8 + 8 + HASH_LENGTH)
  const accumulatorRoot = reader.readBytes(HASH_LENGTH)
  const version = reader.readU64()
  reader.skip(8)
  if (reader.readBool()) skipEpochState(reader)
  reader.skip(HASH_LENGTH)
  reader.readByteString()
  if (reader.readBool()) reader.readByteString()
  reader.expectEnd()
  return { accumulatorRoot, version }
}

/** Epoch, then for each validator its address, public key and voting power. */
function skipEpochState(reader: ByteReader): void {
  reader.skip(8)
  for (let rest = reader.readLength(); rest > 0; rest--) {
    reader.skip(HASH_LENGTH)
    reader.readByteString()
    reader.skip(8)
  }
}

export interface WaypointParts {
  readonly epoch: bigint
  readonly accumulatorRoot: Buffer
  readonly version: bigint
  readonly timestampUsec: bigint
  /** BCS of the next epoch's state, as it stands behind the tag of its option. */
  readonly nextEpochState: Uint8Array | undefined
}

/** `version:hash`, by which a network names a point of its ledger. */
export function waypointOf(hasher: LedgerHasher, parts: WaypointParts): string {
  const { epoch, accumulatorRoot, version, timestampUsec, nextEpochState } = parts
  const writer = new ByteWriter().u64(epoch).bytes(accumulatorRoot).u64(version).u64(timestampUsec)
  writer.bool(nextEpochState !== undefined)
  if (nextEpochState) writer.bytes(nextEpochState)
  return `${version}:${hasher.hash('Ledger2WaypointConverter', writer.toBytes()).toString('hex')}`
}
