import type { KeptTransaction } from '@ledger-state/records'
import type { LedgerVersion } from '../src/sources/source.ts'
import { calledFunction, type SyntheticChain } from './synthetic-chain.ts'

const KINDS = { 0: 'user', 1: 'genesis', 2: 'block_metadata', 3: 'state_checkpoint', 5: 'block_metadata' } as const

/** The kept form of the transaction of a version of the chain. */
export function expectedTransaction(chain: SyntheticChain, version: number): KeptTransaction {
  const { transaction, info } = chain.records[version]!
  const kind = KINDS[transaction[0] as keyof typeof KINDS]
  const hash = Uint8Array.from(chain.hash('Transaction', transaction))
  // The tag of the status follows the variant and the gas of the info.
  const expected = { kind, hash, isSuccess: info[9] === 0 }
  if (kind !== 'user') return expected
  const entryFunction = version % 2 === 0 ? `0x1::coin::${calledFunction(version)}` : undefined
  return { ...expected, sender: Uint8Array.from(transaction.subarray(1, 33)), entryFunction }
}

/** The transaction that a source gives with a version. */
export function transactionOf({ readTransaction }: LedgerVersion): KeptTransaction | undefined {
  return readTransaction?.()
}
