import { bytesToHex, parseAddress } from '@ledger-state/core'
import { pairedMetadataAddress, primaryStoreAddress } from '@ledger-state/proof'
import {
  coinStoreValue,
  parseStructTag,
  primaryStoreBalance,
  resourceGroupKey,
  resourceKey,
} from '@ledger-state/type-tag'
import type { Signers } from './check-signatures.js'
import { connectNode, newestProvenVersion } from './node-connection.js'
import { storedBytes } from './proven-modules.js'
import { readFromNode, type StateOptions } from './read-from-node.js'

/** A balance of an account at a node. */
export interface VerifyBalanceOptions extends StateOptions {
  readonly address: string
  /** A coin type, or the address of the metadata of a fungible asset. */
  readonly asset: string
}

/** A balance that is proven. */
export interface VerifiedBalance {
  /** The sum of both stores. */
  readonly balance: bigint
  /** Part in the coin store; undefined if the asset is no coin, or if it is proven that there is no such store. */
  readonly coinStore: bigint | undefined
  /** Part in the primary store; undefined if it is proven that there is no such store. */
  readonly primaryStore: bigint | undefined
  /** The version of the state. */
  readonly version: bigint
  /** Time of the signed ledger info, in microseconds since 1970. The reader judges whether the answer is too old. */
  readonly timestampUsec: bigint
  /** Who signed the ledger info. */
  readonly signers: Signers
}

const COIN_STORE = parseStructTag('0x1::coin::CoinStore')
const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')

/**
 * Asks a node for the balance of an account as `GET /accounts/{address}/balance/{asset_type}` defines it: for a coin its
 * coin store and the primary store of its fungible asset, for a fungible asset the primary store. Each store is proven,
 * present or absent, at the same version.
 * @throws `untrusted`, `verification_failed`, `wrong_state_key`, `wrong_version`, `answer_differs`, `invalid_answer`,
 *   and the errors of the arguments; `invalid_bcs` if a proven store has another form
 */
export async function verifyBalance(options: VerifyBalanceOptions): Promise<VerifiedBalance> {
  const owner = parseAddress(options.address)
  const { coinKey, storeKey } = keysOf(owner, options.asset)
  const node = connectNode(options)
  const version = options.version ?? (await newestProvenVersion(node))
  const read = async (stateKey: Uint8Array, waypoint: string) => {
    // The keys of resources are the same in database form and in BCS.
    const request = { path: '/experimental/state_values/raw', body: JSON.stringify({ key: bytesToHex(stateKey) }) }
    return await readFromNode(node, { question: { kind: 'state_value', stateKey }, request }, version, waypoint)
  }
  const store = await read(storeKey, node.trust.waypoint)
  const primaryStore = store.bytes && primaryStoreBalance(storeKey, storedBytes(store.bytes))
  // The signatures of the epochs up to here are checked already.
  const coins = coinKey && (await read(coinKey, store.signers.waypoint ?? node.trust.waypoint))
  const coinStore = coins?.bytes && coinStoreValue(owner, storedBytes(coins.bytes))
  const { timestampUsec, signers } = store
  return { balance: (coinStore ?? 0n) + (primaryStore ?? 0n), coinStore, primaryStore, version, timestampUsec, signers }
}

/** State keys of the coin store, if the asset is a coin, and of the resource group of the primary store. */
function keysOf(owner: Uint8Array, asset: string) {
  const coin = asset.includes('::') ? parseStructTag(asset) : undefined
  const metadata = coin ? pairedMetadataAddress(coin) : parseAddress(asset)
  return {
    coinKey: coin && resourceKey(owner, { ...COIN_STORE, typeArguments: [coin] }),
    storeKey: resourceGroupKey(primaryStoreAddress(owner, metadata), OBJECT_GROUP),
  }
}
