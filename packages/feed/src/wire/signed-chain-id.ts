import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { readTransaction } from '@ledger-state/proof/transactions'

const TRANSACTION_USER = 0

/**
 * Chain id that a user transaction is signed for; undefined for other transactions, and for those that cannot be decoded.
 * It shows the chain of a ledger whose genesis was not read.
 */
export function signedChainId(transaction: Uint8Array): number | undefined {
  if (transaction[0] !== TRANSACTION_USER) return undefined
  try {
    const decoded = readTransaction(new ByteReader(transaction))
    return decoded.kind === 'user' ? decoded.chainId : undefined
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}
