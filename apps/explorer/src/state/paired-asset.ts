import { hexToBytes } from '@ledger-state/core'
import type { Resource } from '../api/answers.ts'
import { isCoin } from '../api/asset.ts'
import { route } from './location.ts'
import { memberOf } from './member-of.ts'
import { useAnswer } from './use-answer.ts'

const OF_METADATA = '0x1::coin::PairedCoinType'
const OF_COIN = '0x1::coin::paired_metadata'

/** The other form of an asset: undefined while it is not known, null if there is none. */
export type PairedAsset = string | null | undefined

/** The other form of an asset that is both a coin and a fungible asset. See the framework's `coin.move`, "paired". */
export function usePairedAsset(asset: string): PairedAsset {
  const metadata = usePairedMetadata(isCoin(asset) ? asset : undefined)
  const coin = usePairedCoin(isCoin(asset) ? undefined : asset)
  return isCoin(asset) ? metadata : coin
}

function usePairedMetadata(coin: string | undefined): PairedAsset {
  const body = JSON.stringify({ function: OF_COIN, type_arguments: [coin], arguments: [] })
  const answer = useAnswer<readonly unknown[]>(
    coin === undefined ? undefined : { path: '/view', at: route.value.at, body },
  )
  if (answer === undefined) return undefined
  return ('value' in answer ? memberOf(answer.value[0], ['vec', '0', 'inner']) : undefined) ?? null
}

function usePairedCoin(metadata: string | undefined): PairedAsset {
  const path = `/accounts/${encodeURIComponent(metadata ?? '')}/resource/${OF_METADATA}`
  const answer = useAnswer<Resource>(metadata === undefined ? undefined : { path, at: route.value.at })
  if (answer === undefined) return undefined
  const data = 'value' in answer ? answer.value.data : undefined
  const address = memberOf(data, ['type', 'account_address'])
  const [module, name] = ['module_name', 'struct_name'].map((member) => hexToText(memberOf(data, ['type', member])))
  return address && module && name ? `${address}::${module}::${name}` : null
}

function hexToText(hex: string | undefined): string | undefined {
  return hex && /^0x(?:[0-9a-f]{2})+$/.test(hex) ? new TextDecoder().decode(hexToBytes(hex)) : undefined
}
