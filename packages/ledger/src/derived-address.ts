import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { parseAddress } from '@ledger-state/core'
import { type StructTag, typeTagToText } from '@ledger-state/type-tag'

// Schemes of ledger-formats.md, section 2.2.
const DERIVED_FROM_OBJECT = Uint8Array.of(0xfc)
const DERIVED_FROM_SEED = Uint8Array.of(0xfe)

const APTOS_COIN = '0x1::aptos_coin::AptosCoin'
const APTOS_FUNGIBLE_ASSET = parseAddress('0xa')

/** Address of the store that holds what `owner` has of a fungible asset by default. */
export function primaryStoreAddress(owner: Uint8Array, metadata: Uint8Array): Uint8Array {
  return sha3(owner, metadata, DERIVED_FROM_OBJECT)
}

/** Address of the fungible asset that stands for a coin type. */
export function pairedMetadataAddress(coin: StructTag): Uint8Array {
  const text = typeTagToText(coin)
  if (text === APTOS_COIN) return APTOS_FUNGIBLE_ASSET
  return sha3(APTOS_FUNGIBLE_ASSET, Buffer.from(text), DERIVED_FROM_SEED)
}

function sha3(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(hash('sha3-256', Buffer.concat(parts), 'buffer'))
}
