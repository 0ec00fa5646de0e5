import { U64_MAX } from '@ledger-state/core'
import { balanceOverflow } from '../errors.js'

/**
 * Sum of the two balances of an owner.
 * @throws `balance_overflow` above 2^64 - 1
 */
export function sumOfBalances(owner: Uint8Array, coins: bigint, fungible: bigint): bigint {
  const sum = coins + fungible
  if (sum <= U64_MAX) return sum
  throw balanceOverflow(owner, sum)
}
