import { useState } from 'preact/hooks'
import { KNOWN_ASSETS, textToAsset } from '../api/asset.ts'
import { type BalanceChange, balanceHistoryPath } from '../api/history.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { Sparkline } from '../components/sparkline.tsx'
import { formatAmount } from '../state/amount.ts'
import { goTo, route } from '../state/location.ts'
import { useAnswer, useText } from '../state/use-answer.ts'
import { useAsset } from '../state/use-asset.ts'
import { usePages } from '../state/use-pages.ts'
import type { Resource } from './account-resources.tsx'

const COIN_STORE = /^0x1::coin::CoinStore<(.+)>$/
/** The chain's own asset; most accounts have no coin store of it. A balance counts both. */
const NATIVE_COIN = '0x1::aptos_coin::AptosCoin'
const SPARKLINE_POINTS = 160

export function AccountBalances({ address }: { readonly address: string }) {
  const pages = usePages<readonly Resource[], Resource>(
    { path: `/accounts/${encodeURIComponent(address)}/resources?limit=1000`, at: route.value.at },
    (page) => page,
  )
  const coins = pages.items.flatMap(({ type }) => COIN_STORE.exec(type)?.[1] ?? [])
  const assets = [NATIVE_COIN, ...coins.filter((coin) => coin !== NATIVE_COIN)]
  if (pages.failure) return <FailureNotice failure={pages.failure} />
  return (
    <section aria-label="Balances">
      <table class="amounts">
        <thead>
          <tr>
            <th scope="col">Asset</th>
            <th scope="col">In the window</th>
            <th scope="col" class="number">
              Balance
            </th>
          </tr>
        </thead>
        <tbody>
          {!(pages.isLoading && pages.items.length === 0) &&
            assets.map((asset) => <BalanceRow key={asset} address={address} asset={asset} />)}
        </tbody>
      </table>
      <MoreButton pages={pages} />
      <OtherAsset address={address} />
    </section>
  )
}

function BalanceRow({ address, asset }: { readonly address: string; readonly asset: string }) {
  const { at } = route.value
  const balance = useText({ path: `/accounts/${encodeURIComponent(address)}/balance/${encodeURIComponent(asset)}`, at })
  const known = useAsset(asset)
  const history = useAnswer<readonly BalanceChange[]>({
    path: `${balanceHistoryPath(address, asset)}?order=asc&points=${SPARKLINE_POINTS}`,
  })
  const changes = history && 'value' in history ? history.value : []
  return (
    <tr>
      <th scope="row">
        <Link view={{ name: 'balance', address, asset, curve: {} }} title={asset}>
          <bdi>{known ? known.name : asset}</bdi>
        </Link>
        {known && (
          <small>
            <bdi>{known.symbol}</bdi>
          </small>
        )}
      </th>
      <td>
        {changes.length > 1 && (
          <Sparkline
            label={`${changes.length} changes`}
            points={changes.map((change) => ({ x: Number(change.version), y: Number(change.balance) }))}
          />
        )}
      </td>
      <td class="number">
        {balance === undefined && <Loading />}
        {balance && 'failure' in balance && <FailureNotice failure={balance.failure} />}
        {balance && 'value' in balance && formatAmount(balance.value, known?.decimals ?? 0)}
      </td>
    </tr>
  )
}

function OtherAsset({ address }: { readonly address: string }) {
  const [text, setText] = useState('')
  const { at } = route.value
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault()
        const asset = textToAsset(text)
        if (asset !== '') goTo({ view: { name: 'balance', address, asset, curve: {} }, at })
      }}
    >
      <input
        type="text"
        aria-label="Coin type, address or name of another asset"
        placeholder="0x…::module::Coin, the address of an asset, or its name"
        list="known-assets"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <datalist id="known-assets">
        {KNOWN_ASSETS.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button type="submit">Its balance</button>
    </form>
  )
}
