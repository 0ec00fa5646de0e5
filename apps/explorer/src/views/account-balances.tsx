import { useState } from 'preact/hooks'
import { type AssetFacts, assetFactsPath, resourceToAssetFacts } from '../api/asset.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { formatAmount } from '../state/amount.ts'
import { goTo, route } from '../state/location.ts'
import { useAnswer, useText } from '../state/use-answer.ts'
import { usePages } from '../state/use-pages.ts'
import type { Resource } from './account-resources.tsx'

const COIN_STORE = /^0x1::coin::CoinStore<(.+)>$/
/** The chain's own asset as a fungible asset; most accounts have no coin store of it. */
const NATIVE_ASSET = '0xa'

export function AccountBalances({ address }: { readonly address: string }) {
  const pages = usePages<readonly Resource[], Resource>(
    { path: `/accounts/${address}/resources?limit=1000`, at: route.value.at },
    (page) => page,
  )
  const coins = pages.items.flatMap(({ type }) => COIN_STORE.exec(type)?.[1] ?? [])
  const assets = coins.some((coin) => coin.endsWith('::aptos_coin::AptosCoin')) ? coins : [...coins, NATIVE_ASSET]
  return (
    <section aria-label="Balances">
      <table class="amounts">
        <thead>
          <tr>
            <th scope="col">Asset</th>
            <th scope="col" class="number">
              Balance
            </th>
          </tr>
        </thead>
        <tbody>
          {!pages.isLoading && assets.map((asset) => <BalanceRow key={asset} address={address} asset={asset} />)}
        </tbody>
      </table>
      <MoreButton pages={pages} />
      <OtherAsset address={address} />
    </section>
  )
}

function BalanceRow({ address, asset }: { readonly address: string; readonly asset: string }) {
  const { at } = route.value
  const balance = useText({ path: `/accounts/${address}/balance/${encodeURIComponent(asset)}`, at })
  const facts = useAnswer<{ readonly data: Partial<AssetFacts> }>({ path: assetFactsPath(asset), at })
  const known = facts && 'value' in facts ? resourceToAssetFacts(facts.value) : undefined
  return (
    <tr>
      <th scope="row">
        <Link view={{ name: 'balance', address, asset }} title={asset}>
          <bdi>{known ? `${known.symbol} ${known.name}` : asset}</bdi>
        </Link>
      </th>
      <td class="number">
        {balance === undefined && <Loading />}
        {balance && 'failure' in balance && <FailureNotice failure={balance.failure} />}
        {balance && 'value' in balance && formatAmount(balance.value, known?.decimals ?? 0)}
      </td>
    </tr>
  )
}

function OtherAsset({ address }: { readonly address: string }) {
  const [asset, setAsset] = useState('')
  const { at } = route.value
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault()
        if (asset.trim() !== '') goTo({ view: { name: 'balance', address, asset: asset.trim() }, at })
      }}
    >
      <input
        aria-label="Coin type or address of an asset"
        placeholder="0x…::module::Coin, or the address of an asset"
        value={asset}
        onInput={(event) => setAsset(event.currentTarget.value)}
      />
      <button type="submit">Its balance</button>
    </form>
  )
}
