import { chainIdMissing, sourceNotAsAsked, sourceOfOtherChain, storeNotAsAsked } from '../errors.js'

/** Chain ids from the store, the source and the caller; each may be unknown. */
export interface ChainIds {
  /** Chain id of the store, set by its first commit. */
  readonly held: bigint | undefined
  /** Chain id that the source gives. */
  readonly told: bigint | undefined
  /** Chain id that the caller gives. */
  readonly asked: bigint | undefined
}

/**
 * Checks that the known ids are equal.
 * @throws `chain_id_mismatch`
 */
export function expectSameChain({ held, told, asked }: ChainIds, place: string): void {
  if (differ(held, told)) throw sourceOfOtherChain(place, told!, held!)
  if (differ(held, asked)) throw storeNotAsAsked(asked!, held!)
  if (differ(told, asked)) throw sourceNotAsAsked(place, told!, asked!)
}

/**
 * The known chain id.
 * @throws `chain_id_mismatch`; `invalid_argument` if none is known
 */
export function resolveChainId(ids: ChainIds, place: string): bigint {
  expectSameChain(ids, place)
  const chainId = ids.held ?? ids.told ?? ids.asked
  if (chainId === undefined) throw chainIdMissing(place)
  return chainId
}

function differ(a: bigint | undefined, b: bigint | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b
}
