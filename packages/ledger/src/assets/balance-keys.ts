import { ADDRESS_LENGTH } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { pairedMetadataAddress } from '@ledger-state/proof'
import { parseStructTag, resourceGroupKey, resourceKey, STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import type { Asset } from './asset.js'
import { type NumberedAsset, PrimaryStoreAddresses } from './store-addresses.js'

const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
const COIN_STORE = parseStructTag('0x1::coin::CoinStore')

/** The parts of the state keys that depend only on the asset. */
interface AssetKeys extends NumberedAsset {
  /** Key of the coin store; each read fills in the account. Undefined for a fungible asset. */
  readonly coinStore: Uint8Array | undefined
}

/** State keys at which a balance is stored. */
export interface BalanceKeys {
  /** State key of the coin store; undefined for a fungible asset. */
  readonly coinStore: Uint8Array | undefined
  /** State key of the resource group of the primary store. */
  readonly primaryStore: Uint8Array
}

/** Derives the state keys of balances. Keeps the keys of assets, and the addresses of primary stores. */
export class BalanceKeysCache {
  readonly #assetKeys = new WeakMap<Asset, AssetKeys>()
  readonly #storeAddresses = new PrimaryStoreAddresses()
  /** State key of a primary store; each read fills in the account. */
  readonly #storeKey = resourceGroupKey(new Uint8Array(ADDRESS_LENGTH), OBJECT_GROUP)
  #assetCount = 0

  /** The keys of an owner's balance. */
  keysOf(owner: Uint8Array, asset: Asset): BalanceKeys {
    const { coinStore, primaryStore } = this.fillKeys(owner, asset)
    return { coinStore: coinStore && copyBytes(coinStore), primaryStore: copyBytes(primaryStore) }
  }

  /** Same as `keysOf`, without a copy: the next call overwrites the keys. */
  fillKeys(owner: Uint8Array, asset: Asset): BalanceKeys {
    const keys = this.#keysOfAsset(asset)
    this.#storeAddresses.write(owner, keys, this.#storeKey, STATE_KEY_ADDRESS_AT)
    keys.coinStore?.set(owner, STATE_KEY_ADDRESS_AT)
    return { coinStore: keys.coinStore, primaryStore: this.#storeKey }
  }

  #keysOfAsset(asset: Asset): AssetKeys {
    const known = this.#assetKeys.get(asset)
    if (known) return known
    const number = ++this.#assetCount
    const keys: AssetKeys =
      asset.kind === 'coin'
        ? {
            coinStore: resourceKey(new Uint8Array(ADDRESS_LENGTH), { ...COIN_STORE, typeArguments: [asset.coin] }),
            metadata: pairedMetadataAddress(asset.coin),
            number,
          }
        : { coinStore: undefined, metadata: asset.metadata, number }
    this.#assetKeys.set(asset, keys)
    return keys
  }
}
