import { formatAmount } from '../state/amount.ts'
import { useAsset } from '../state/use-asset.ts'
import { Link } from './link.tsx'

const COIN_STORE = /^0x1::coin::CoinStore<(.+)>$/

/** What a store of coins or of a fungible asset holds, in the units that its metadata tell. */
export function ResourceAmount(props: { readonly address: string; readonly type: string; readonly data: unknown }) {
  const held = amountOf(props.type, props.data)
  const known = useAsset(held?.asset)
  if (!held || !known) return null
  return (
    <p class="amount-note">
      <Link view={{ name: 'balance', address: props.address, asset: held.asset, curve: {} }}>
        {formatAmount(held.units, known.decimals)} <bdi>{known.symbol}</bdi>
      </Link>
    </p>
  )
}

function amountOf(type: string, data: unknown): { readonly asset: string; readonly units: string } | undefined {
  const [coin, metadata] = [COIN_STORE.exec(type)?.[1], memberOf(data, 'metadata', 'inner')]
  const units = coin === undefined ? memberOf(data, 'balance') : memberOf(data, 'coin', 'value')
  const asset = coin ?? (type === '0x1::fungible_asset::FungibleStore' ? metadata : undefined)
  return typeof asset === 'string' && typeof units === 'string' && /^\d+$/.test(units) ? { asset, units } : undefined
}

function memberOf(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (one, name) => (typeof one === 'object' && one !== null ? (one as Record<string, unknown>)[name] : undefined),
    value,
  )
}
