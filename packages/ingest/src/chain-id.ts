import { chainIdMissing, sourceNotAsAsked, sourceOfOtherChain, storeNotAsAsked } from './errors.js'

/** Ids of a chain, each from one who may know it. */
export interface ChainIds {
  /** Chain id of the store, which keeps that of its first commit. */
  readonly held: bigint | undefined
  /** Chain id that the source gives. */
  readonly told: bigint | undefined
  /** Chain id that the caller gives. */
  readonly asked: bigint | undefined
}

/** @throws `chain_id_mismatch` if two of them differ */
export function expectSameChain({ held, told, asked }: ChainIds, place: string): void {
  if (differ(held, told)) throw sourceOfOtherChain(place, told!, held!)
  if (differ(held, asked)) throw storeNotAsAsked(asked!, held!)
  if (differ(told, asked)) throw sourceNotAsAsked(place, told!, asked!)
}

/** @throws `chain_id_mismatch`; `invalid_argument` where none of them is known */
export function resolveChainId(ids: ChainIds, place: string): bigint {
  expectSameChain(ids, place)
  const chainId = ids.held ?? ids.told ?? ids.asked
  if (chainId === undefined) throw chainIdMissing(place)
  return chainId
}

function differ(a: bigint | undefined, b: bigint | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b
}
