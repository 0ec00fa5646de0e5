import { ByteReader, ByteWriter, bytesToHex } from '@ledger-state/core'
import { verificationFailed } from '../errors.js'
import { readHashes, writeHashes } from '../hashes/hash-bytes.js'
import { hexPieces } from '../hashes/hex-pieces.js'
import { expectHash, type LedgerHasher } from '../hashes/ledger-hasher.js'
import { rootByPath } from '../trees/accumulator-path.js'
import { computeEventRoot } from '../trees/event-root.js'
import { readEvent } from '../wire/events.js'
import { type CheckedInfo, checkInfoProof, type InfoProof } from './checkpoint.js'
import { bytesOf, hashOf, indexOf, listOf, membersOf } from './proof-members.js'
import {
  INFO_MEMBERS,
  type InfoProofJson,
  membersToSignedInfo,
  readSignedInfo,
  signedInfoToJson,
  writeSignedInfo,
} from './signed-info.js'

/** Proves the transaction that made a version, and its events. */
export interface TransactionProof {
  /** BCS of the transaction, as its hash sees it. */
  readonly transaction: Uint8Array
  /** BCS of the vector of events. */
  readonly events: Uint8Array
  readonly infoProof: InfoProof
  /**
   * BCS of the ledger infos with signatures that end epochs, from one that the reader trusts up to the epoch before that
   * of the proof's ledger info.
   */
  readonly epochEndings: readonly Uint8Array[]
}

/** Proves an event of the transaction that made a version. */
export interface EventProof {
  /** BCS of the event. */
  readonly event: Uint8Array
  /** Place of the event among the events of its transaction. */
  readonly index: number
  /** The siblings on the path from the event to the event root of the transaction info, the lowest first. */
  readonly siblings: readonly Uint8Array[]
  readonly infoProof: InfoProof
  /** As in `TransactionProof`. */
  readonly epochEndings: readonly Uint8Array[]
}

/** Writes a proof in BCS: see docs/ledger-formats.md, "Proofs of transactions and events". */
export function writeTransactionProof(writer: ByteWriter, proof: TransactionProof): void {
  writer.byteString(proof.transaction).byteString(proof.events)
  writeSignedInfo(writer, proof)
}

/** The bytes that `writeTransactionProof` writes, in pieces: the transaction and the events are not copied. */
export function* transactionProofToPieces(proof: TransactionProof): Generator<Uint8Array, void> {
  for (const part of [proof.transaction, proof.events]) {
    yield new ByteWriter().uleb128(part.length).toBytes()
    yield part
  }
  const writer = new ByteWriter()
  writeSignedInfo(writer, proof)
  yield writer.toBytes()
}

/** Reads a proof that `writeTransactionProof` wrote. Nothing of it is checked. @throws `invalid_bcs` */
export function readTransactionProof(reader: ByteReader): TransactionProof {
  const transaction = reader.readByteString()
  const events = reader.readByteString()
  return { transaction, events, ...readSignedInfo(reader) }
}

/** Writes a proof in BCS: see docs/ledger-formats.md, "Proofs of transactions and events". */
export function writeEventProof(writer: ByteWriter, proof: EventProof): void {
  writer.byteString(proof.event).u32(proof.index)
  writeHashes(writer, proof.siblings)
  writeSignedInfo(writer, proof)
}

/** Reads a proof that `writeEventProof` wrote. Nothing of it is checked. @throws `invalid_bcs` */
export function readEventProof(reader: ByteReader): EventProof {
  const event = reader.readByteString()
  const index = reader.readU32()
  const siblings = readHashes(reader)
  return { event, index, siblings, ...readSignedInfo(reader) }
}

/** The proof of a transaction as JSON. */
export interface TransactionProofJson extends InfoProofJson {
  readonly transaction: string
  readonly events: string
}

/** The proof of an event as JSON. */
export interface EventProofJson extends InfoProofJson {
  readonly event: string
  readonly event_index: number
  readonly event_siblings: readonly string[]
}

const TRANSACTION_MEMBERS = ['transaction', 'events', ...INFO_MEMBERS]
const EVENT_MEMBERS = ['event', 'event_index', 'event_siblings', ...INFO_MEMBERS]

/** Writes a proof as JSON. */
export function transactionProofToJson(proof: TransactionProof): TransactionProofJson {
  return { transaction: bytesToHex(proof.transaction), events: bytesToHex(proof.events), ...signedInfoToJson(proof) }
}

/** The text of the JSON that `transactionProofToJson` makes, in pieces: a transaction and its events may have megabytes. */
export function* transactionProofToJsonPieces(proof: TransactionProof): Generator<string, void> {
  yield '{"transaction":"0x'
  yield* hexPieces(proof.transaction)
  yield '","events":"0x'
  yield* hexPieces(proof.events)
  yield `",${JSON.stringify(signedInfoToJson(proof)).slice(1)}`
}

/** Writes a proof as JSON. */
export function eventProofToJson(proof: EventProof): EventProofJson {
  const siblings = proof.siblings.map(bytesToHex)
  return {
    event: bytesToHex(proof.event),
    event_index: proof.index,
    event_siblings: siblings,
    ...signedInfoToJson(proof),
  }
}

/** Reads a proof that `transactionProofToJson` wrote. Nothing of it is checked. @throws `invalid_proof` */
export function jsonToTransactionProof(json: unknown): TransactionProof {
  const members = membersOf(json, 'the proof', TRANSACTION_MEMBERS)
  const transaction = bytesOf(members.transaction, 'transaction')
  return { transaction, events: bytesOf(members.events, 'events'), ...membersToSignedInfo(members) }
}

/** Reads a proof that `eventProofToJson` wrote. Nothing of it is checked. @throws `invalid_proof` */
export function jsonToEventProof(json: unknown): EventProof {
  const members = membersOf(json, 'the proof', EVENT_MEMBERS)
  return {
    event: bytesOf(members.event, 'event'),
    index: indexOf(members.event_index, 'event_index'),
    siblings: listOf(members.event_siblings, 'event_siblings', hashOf),
    ...membersToSignedInfo(members),
  }
}

/**
 * Checks that the ledger of a proof's ledger info has the transaction and its events at the version. It does not check
 * the signatures of the ledger info and of the epoch endings.
 * @throws `verification_failed`; `invalid_bcs`
 */
export function checkTransactionProof(hasher: LedgerHasher, proof: TransactionProof): CheckedInfo {
  const checked = checkInfoProof(hasher, proof.infoProof)
  const { transactionHash, eventRoot } = checked.info
  expectHash('the transaction hash', hasher.hash('Transaction', proof.transaction), transactionHash)
  const reader = new ByteReader(proof.events)
  const root = computeEventRoot(reader, hasher)
  reader.expectEnd()
  expectHash('the event root', root, eventRoot)
  return checked
}

/**
 * Checks that the ledger of a proof's ledger info has the event at its place of the version. It does not check the
 * signatures of the ledger info and of the epoch endings.
 * @throws `verification_failed`; `invalid_bcs`
 */
export function checkEventProof(hasher: LedgerHasher, proof: EventProof): CheckedInfo {
  const { event, index, siblings } = proof
  const checked = checkInfoProof(hasher, proof.infoProof)
  const reader = new ByteReader(event)
  readEvent(reader)
  reader.expectEnd()
  // An index has no bits above its path: they would not change the root, so one event could be passed off as another.
  if (index >= 2 ** siblings.length) throw verificationFailed.eventOutsidePath(index, siblings.length)
  const root = rootByPath(hasher, hasher.hash('ContractEvent', event), BigInt(index), siblings, 'EventAccumulator')
  expectHash('the event root', root, checked.info.eventRoot)
  return checked
}
