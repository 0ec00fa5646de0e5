import type { Resource } from '../api/answers.ts'
import { isCoin, issuerOf } from '../api/asset.ts'
import type { ApiRequest } from '../api/client.ts'
import { limitOf } from './limit-of.ts'
import { route } from './location.ts'
import { memberOf } from './member-of.ts'
import { useAnswer } from './use-answer.ts'

/** The value of the ledger that counts the supply of an asset. */
export interface SupplySource {
  /** Request for the history of the value, without a limit. */
  readonly history: ApiRequest
  /** Members that lead to the supply in the value; none if the value is the supply. */
  readonly path: readonly string[]
  /** The supply in the smallest unit, in the state of the page. */
  readonly supply: string | undefined
  /** The largest possible supply, if the issuer limits it. */
  readonly maximum: string | undefined
}

/** Result of the search for a source: undefined while it is not known, null if the issuer does not count the supply. */
export type FoundSupply = SupplySource | null | undefined

const INTEGER = ['supply', 'vec', '0', 'integer', 'vec', '0', 'value']
const AGGREGATOR = ['supply', 'vec', '0', 'aggregator', 'vec', '0']

/** Finds the value that counts the supply of an asset. */
export function useAssetSupply(asset: string): FoundSupply {
  const coin = useCoinSupply(isCoin(asset) ? asset : undefined)
  const fungible = useFungibleSupply(isCoin(asset) ? undefined : asset)
  return isCoin(asset) ? coin : fungible
}

function useFungibleSupply(asset: string | undefined): FoundSupply {
  const path = (name: string) => `/accounts/${encodeURIComponent(asset ?? '')}/resource/0x1::fungible_asset::${name}`
  const ask = (name: string) => (asset === undefined ? undefined : { path: path(name), at: route.value.at })
  const concurrent = useAnswer<Resource>(ask('ConcurrentSupply'))
  const plain = useAnswer<Resource>(ask('Supply'))
  if (concurrent && 'value' in concurrent) {
    const { data } = concurrent.value
    return {
      history: { path: `${path('ConcurrentSupply')}/history` },
      path: ['current', 'value'],
      supply: memberOf(data, ['current', 'value']),
      maximum: limitOf(memberOf(data, ['current', 'max_value'])),
    }
  }
  if (plain && 'value' in plain && concurrent) {
    const { data } = plain.value
    return {
      history: { path: `${path('Supply')}/history` },
      path: ['current'],
      supply: memberOf(data, ['current']),
      maximum: limitOf(memberOf(data, ['maximum', 'vec', '0'])),
    }
  }
  return concurrent && plain ? null : undefined
}

/** The supply of a coin, which its metadata count, or an item of a table that they name. */
function useCoinSupply(coin: string | undefined): FoundSupply {
  const { at } = route.value
  const issuer = encodeURIComponent(issuerOf(coin ?? ''))
  const path = `/accounts/${issuer}/resource/${encodeURIComponent(`0x1::coin::CoinInfo<${coin}>`)}`
  const info = useAnswer<Resource>(coin === undefined ? undefined : { path, at })
  const data = info && 'value' in info ? info.value.data : undefined
  const counted = memberOf(data, INTEGER)
  const [handle, key] = ['handle', 'key'].map((name) => memberOf(data, [...AGGREGATOR, name]))
  const item =
    handle === undefined || key === undefined
      ? undefined
      : {
          path: `/tables/${encodeURIComponent(handle)}/item`,
          body: JSON.stringify({ key_type: 'address', value_type: 'u128', key }),
        }
  const aggregated = useAnswer<string>(item && { ...item, at })
  if (counted !== undefined) {
    const maximum = limitOf(memberOf(data, [...INTEGER.slice(0, -1), 'limit']))
    return { history: { path: `${path}/history` }, path: INTEGER, supply: counted, maximum }
  }
  if (!info || (item && !aggregated)) return undefined
  if (!item) return null
  return {
    history: { ...item, path: `${item.path}/history` },
    path: [],
    supply: aggregated && 'value' in aggregated ? String(aggregated.value) : undefined,
    maximum: limitOf(memberOf(data, [...AGGREGATOR, 'limit'])),
  }
}
