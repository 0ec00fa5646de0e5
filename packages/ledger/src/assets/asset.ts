import { parseAddress } from '@ledger-state/core'
import { parseStructTag, type StructTag, typeTagHeapSize } from '@ledger-state/type-tag'
import { invalidAsset } from '../errors.js'

/** An asset that an account can hold: a coin type, or a fungible asset by the address of its metadata. */
export type Asset =
  | { readonly kind: 'coin'; readonly coin: StructTag }
  | { readonly kind: 'fungibleAsset'; readonly metadata: Uint8Array }

/**
 * Reads an asset type: an address, with or without `0x`, or else the struct tag of a coin.
 * @throws `invalid_type_tag`
 * @example
 * ```ts
 * import { parseAsset } from '@ledger-state/ledger'
 *
 * console.log(parseAsset('0xa').kind, parseAsset('0x1::aptos_coin::AptosCoin').kind) // fungibleAsset coin
 * ```
 */
export function parseAsset(text: string): Asset {
  if (text.includes('::')) return { kind: 'coin', coin: parseStructTag(text) }
  try {
    return { kind: 'fungibleAsset', metadata: parseAddress(text) }
  } catch (cause) {
    throw invalidAsset(text, cause)
  }
}

/** Heap of the keys that are derived from an asset, in addition to its texts and names. */
const KEYS_HEAP_SIZE = 1_024

/** Bytes of heap that an asset takes, with the keys that a reader of balances derives from it. */
export function assetHeapSize(asset: Asset): number {
  return KEYS_HEAP_SIZE + (asset.kind === 'coin' ? 2 * typeTagHeapSize(asset.coin) : 0)
}
