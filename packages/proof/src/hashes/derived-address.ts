import { ByteWriter, parseAddress } from '@ledger-state/core'
import { type StructTag, typeTagToText } from '@ledger-state/type-tag'
import { sha3 } from '#sha3'

// Last hashed byte: the kind of derivation of the address.
const DERIVED_FROM_OBJECT = Uint8Array.of(0xfc)
const DERIVED_FROM_SEED = Uint8Array.of(0xfe)

const APTOS_COIN = '0x1::aptos_coin::AptosCoin'
const APTOS_FUNGIBLE_ASSET = parseAddress('0xa')

/** Address of the primary store of `owner` for a fungible asset: the store that holds the asset by default. */
export function primaryStoreAddress(owner: Uint8Array, metadata: Uint8Array): Uint8Array {
  return new Uint8Array(sha3(concatenated(owner, metadata, DERIVED_FROM_OBJECT)))
}

/** Address of the fungible asset paired with a coin type. */
export function pairedMetadataAddress(coin: StructTag): Uint8Array {
  const text = typeTagToText(coin)
  if (text === APTOS_COIN) return APTOS_FUNGIBLE_ASSET
  return namedObjectAddress(APTOS_FUNGIBLE_ASSET, new TextEncoder().encode(text))
}

/** Address of an object that an account created with a seed; the seed of a collection is its name. */
export function namedObjectAddress(creator: Uint8Array, seed: Uint8Array): Uint8Array {
  return new Uint8Array(sha3(concatenated(creator, seed, DERIVED_FROM_SEED)))
}

function concatenated(...parts: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter()
  for (const part of parts) writer.bytes(part)
  return writer.toBytes()
}
