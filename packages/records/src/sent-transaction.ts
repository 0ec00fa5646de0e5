import { ByteReader, isLedgerStateError, U64_MAX } from '@ledger-state/core'
import { readTransaction } from '@ledger-state/proof/transactions'

const USER = 0

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
