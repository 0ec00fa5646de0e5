import { ByteReader, bytesToHexDigits, isLedgerStateError, U64_MAX, type Write } from '@ledger-state/core'
import { readTransactionInfo } from '@ledger-state/proof'
import { readBcsList, readEventHead, readTransaction } from '@ledger-state/proof/transactions'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import {
  affectedAccountKey,
  eventStreamKey,
  eventTypeKey,
  KEY_FAMILIES,
  nonceKey,
  sequenceNumberKey,
  transactionHashKey,
  transactionHashMark,
  wholeTransactionKey,
} from './own-keys.js'
import { STORED_TRANSACTION, type WholeTransaction, withoutValues } from './whole-transaction.js'

const USER = 0
const ACCESS_PATH = 0
const ADDRESS_END = STATE_KEY_ADDRESS_AT + 32
const NOTHING = new Uint8Array(0)

/** Sender of a user's transaction, and its sequence number or nonce, which prevents replay. */
export interface SentTransaction {
  readonly sender: Uint8Array
  readonly protection: { readonly kind: 'sequence_number' | 'nonce'; readonly number: bigint }
}

/** Sender and replay protection of a transaction; undefined if no user sent it. @throws `invalid_bcs` */
export function readSent(transaction: Uint8Array): SentTransaction | undefined {
  if (transaction[0] !== USER) return undefined
  const reader = new ByteReader(transaction, 1)
  const sender = reader.readBytes(32)
  const number = reader.readU64()
  const nonce = number === U64_MAX ? readNonce(transaction) : undefined
  const protection =
    nonce === undefined ? { kind: 'sequence_number' as const, number } : { kind: 'nonce' as const, number: nonce }
  return { sender, protection }
}

/** The nonce of a transaction; undefined if it has none, or is of a kind that is not known. */
function readNonce(transaction: Uint8Array): bigint | undefined {
  try {
    const read = readTransaction(new ByteReader(transaction))
    const payload = read.kind === 'user' ? read.payload : undefined
    return payload?.kind === 'versioned' || payload?.kind === 'encrypted' ? payload.extraConfig.nonce : undefined
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

/**
 * The writes by which a version keeps its whole transaction, and by which the transaction is found.
 * @param writes the writes of the version
 * @throws `invalid_bcs`
 */
export function wholeTransactionWrites(version: bigint, whole: WholeTransaction, writes: readonly Write[]): Write[] {
  const { transactionHash } = readTransactionInfo(new ByteReader(whole.info))
  const stored = { ...whole, writeSet: withoutValues(whole.writeSet) }
  const made: Write[] = [
    [wholeTransactionKey(version), STORED_TRANSACTION.encode(stored)],
    [transactionHashKey(transactionHash), transactionHashMark(transactionHash)],
  ]
  const { sequenceNumber, nonce } = KEY_FAMILIES
  const sent = readSent(whole.transaction)
  if (sent?.protection.kind === 'sequence_number') {
    made.push([sequenceNumberKey(sent.sender), sequenceNumber.codec.encode(sent.protection.number)])
  } else if (sent) made.push([nonceKey(sent.sender), nonce.codec.encode(sent.protection.number)])
  made.push(...affectedAccounts(writes), ...eventWrites(whole.events))
  return made
}

function affectedAccounts(writes: readonly Write[]): Iterable<Write> {
  const found = new Map<string, Write>()
  for (const [key] of writes) {
    if (key[0] !== ACCESS_PATH) continue
    const address = key.subarray(STATE_KEY_ADDRESS_AT, ADDRESS_END)
    const name = bytesToHexDigits(address)
    if (!found.has(name)) found.set(name, [affectedAccountKey(address), NOTHING])
  }
  return found.values()
}

function eventWrites(events: Uint8Array): Iterable<Write> {
  const found = new Map<string, Write>()
  for (const { key, type } of readBcsList(new ByteReader(events), readEventHead)) {
    const typeName = bytesToHexDigits(type)
    if (!found.has(typeName)) found.set(typeName, [eventTypeKey(type), NOTHING])
    if (!key) continue
    const streamKey = eventStreamKey(key.address, key.creationNumber)
    // A type in BCS never begins with fe, so these names differ from the names of types.
    found.set(bytesToHexDigits(streamKey), [streamKey, KEY_FAMILIES.eventStream.codec.encode(key.sequenceNumber)])
  }
  return found.values()
}
