import { Buffer } from 'node:buffer'
import { ADDRESS_LENGTH, ByteReader, ByteWriter, type Write } from '@ledger-state/core'
import {
  AccumulatorFrontier,
  computeWaypoint,
  HASH_LENGTH,
  type LedgerHasher,
  type SignedCheckpoint,
  SparseMerkleFrontier,
  signedLedgerInfoToBytes,
  type WaypointParts,
} from '@ledger-state/proof'
import { computeEventRoot } from '@ledger-state/proof/transactions'
import { annotationToNote } from '@ledger-state/records'
import { encodeStateValue } from '@ledger-state/type-tag'
import { VALIDATOR_SET_KEY } from '../wire/framework-keys.js'
import { type Genesis, withGenesisErrors } from '../wire/genesis-transaction.js'
import { GENESIS_BLOCK } from '../wire/ledger-clock.js'

export interface GenesisProof {
  /** Waypoint as the network publishes it, `0:hash`. */
  readonly waypoint: string
  /** Root of the state that the genesis writes. */
  readonly stateRoot: Uint8Array
  /** The ledger's accumulator after version 0. */
  readonly frontier: Uint8Array
  readonly accumulatorRoot: Uint8Array
  /** Proof that a ledger info with that waypoint, which is not signed, commits to the root. */
  readonly checkpoint: SignedCheckpoint
}

/** Computes the commitments of the ledger from the writes up to the waypoint. See docs/ledger-formats.md, "Genesis". */
export function proveGenesis(genesis: Genesis, hasher: LedgerHasher): GenesisProof {
  const { blob, record, writeSetStart, eventsStart } = genesis
  const stateRoot = stateRootOf(record.writes, hasher)
  const info = new ByteWriter()
    .u8(0)
    .u64(0n)
    .u8(0)
    .bytes(hasher.hash('Transaction', blob))
    .bytes(computeEventRoot(new ByteReader(blob, eventsStart), hasher))
    .bytes(hasher.hash('WriteSet', blob.subarray(writeSetStart, eventsStart)))
    .bool(true)
    .bytes(stateRoot)
    .bool(false)
    .toBytes()
  const frontier = new AccumulatorFrontier(hasher, 'TransactionAccumulator')
  frontier.append(hasher.hash('TransactionInfo', info))
  const parts = {
    epoch: GENESIS_BLOCK.epoch,
    accumulatorRoot: frontier.root(),
    version: 0n,
    timestampUsec: GENESIS_BLOCK.timestampUsec,
    nextEpoch: firstEpochState(record.writes),
  }
  const checkpoint = { version: 0n, transactionInfo: info, siblings: [], ledgerInfo: unsignedLedgerInfo(parts) }
  const { accumulatorRoot } = parts
  const waypoint = computeWaypoint(hasher, parts)
  return { waypoint, stateRoot, frontier: frontier.toBytes(), accumulatorRoot, checkpoint }
}

/** Ledger info of a genesis. It has round 0 and no block; fields that its waypoint does not cover are zero. */
function unsignedLedgerInfo({ epoch, accumulatorRoot, version, timestampUsec, nextEpoch }: WaypointParts): Uint8Array {
  const message = new ByteWriter()
    .u64(epoch)
    .u64(0n)
    .bytes(new Uint8Array(HASH_LENGTH))
    .bytes(accumulatorRoot)
    .u64(version)
    .u64(timestampUsec)
    .bool(nextEpoch !== undefined)
  if (nextEpoch) message.bytes(nextEpoch.bytes)
  message.bytes(new Uint8Array(HASH_LENGTH))
  return signedLedgerInfoToBytes({ message: message.toBytes(), signers: new Uint8Array(0), signature: undefined })
}

function stateRootOf(writes: readonly Write[], hasher: LedgerHasher): Uint8Array {
  const leaves: [Uint8Array, Uint8Array][] = []
  for (const [key, value, annotation] of writes) {
    if (value === null) continue
    const stateValue = encodeStateValue({ value, metadata: annotationToNote(annotation).metadata })
    leaves.push([hasher.hash('StateKey', key), hasher.hash('StateValue', stateValue)])
  }
  const tree = new SparseMerkleFrontier(hasher)
  for (const [keyHash, valueHash] of leaves.sort(([a], [b]) => Buffer.compare(a, b))) tree.append(keyHash, valueHash)
  return tree.root()
}

const FIRST_EPOCH = 1n

/** Epoch 1 and its validators, read from 0x1::stake::ValidatorSet: each with address, public key and voting power. */
function firstEpochState(writes: readonly Write[]): { readonly bytes: Uint8Array } | undefined {
  const value = writes.find(([key]) => Buffer.compare(VALIDATOR_SET_KEY, key) === 0)?.[1]
  if (!value) return undefined
  return withGenesisErrors(() => {
    const reader = new ByteReader(value)
    reader.skip(1)
    const count = reader.readLength()
    const state = new ByteWriter().u64(FIRST_EPOCH).uleb128(count)
    for (let rest = count; rest > 0; rest--) {
      const address = reader.readBytes(ADDRESS_LENGTH)
      const votingPower = reader.readU64()
      state.bytes(address).byteString(reader.readByteString()).u64(votingPower)
      reader.readByteString()
      reader.readByteString()
      reader.skip(8)
    }
    return { bytes: state.toBytes() }
  })
}
