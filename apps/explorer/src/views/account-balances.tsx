import { useState } from 'preact/hooks'
import type { BalanceChange, Resource } from '../api/answers.ts'
import { KNOWN_ASSETS, textToAsset } from '../api/asset.ts'
import { balanceHistoryPath } from '../api/history.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { Sparkline } from '../components/sparkline.tsx'
import { NotProven } from '../proof/not-proven.tsx'
import { formatAmount, groupDigits } from '../state/amount.ts'
import { newest } from '../state/ledger.ts'
import { goTo, route } from '../state/location.ts'
import { useAnswer, useText } from '../state/use-answer.ts'
import { useAsset } from '../state/use-asset.ts'
import { usePages } from '../state/use-pages.ts'

const COIN_STORE = /^0x1::coin::CoinStore<(.+)>$/
/** The chain's own asset. Most accounts have no coin store of it; a balance counts coin store and primary store. */
const NATIVE_COIN = '0x1::aptos_coin::AptosCoin'
/** Id of the chain with `KNOWN_ASSETS`. */
const MAINNET = '1'
const SPARKLINE_POINTS = 160
const ROW_HEIGHT = 64
/** Number of coins above which the visitor has to ask for more coins among the other resources. */
const COINS_IN_SIGHT = 25

export function AccountBalances({ address }: { readonly address: string }) {
  const { at } = route.value
  const account = encodeURIComponent(address)
  const pages = usePages<readonly Resource[], Resource>(
    { path: `/accounts/${account}/resources?limit=1000`, at },
    (page) => page,
  )
  const coins = pages.items.flatMap(({ type }) => COIN_STORE.exec(type)?.[1] ?? [])
  const native = useText({ path: `/accounts/${account}/balance/${encodeURIComponent(NATIVE_COIN)}`, at })
  const holdsNative = coins.includes(NATIVE_COIN) || (native && 'value' in native && native.value !== '0') === true
  const known = newest.value?.chainId === MAINNET ? KNOWN_ASSETS.map(({ asset }) => asset).slice(1) : []
  const own = [...(holdsNative ? [NATIVE_COIN] : []), ...coins.filter((coin) => coin !== NATIVE_COIN)]
  const assets = [...own, ...known]
  const isKnown = !(pages.isLoading && pages.items.length === 0) && native !== undefined
  return (
    <section aria-label="Balances">
      <ForPrograms
        requests={[
          { path: `/accounts/${account}`, at },
          { path: `/accounts/${account}/balance/${encodeURIComponent(NATIVE_COIN)}`, at },
        ]}
      />
      <OtherAsset address={address} />
      <BalancesUnproven address={address} />
      {isKnown && (
        <LongList
          label="Balances of the account"
          class="balances"
          count={pages.failure && coins.length === 0 ? 0 : assets.length}
          rowHeight={ROW_HEIGHT}
          onEnd={coins.length > COINS_IN_SIGHT ? pages.more : undefined}
          row={(index) => (
            <BalanceRow
              key={assets[index]}
              address={address}
              asset={assets[index]!}
              isHiddenAtZero={index >= own.length}
            />
          )}
        />
      )}
      {isKnown && !pages.isLoading && !pages.failure && own.length === 0 && (
        <p class="empty">No coins, and none of the chain's own asset, at this version.</p>
      )}
      <MoreButton pages={pages} />
    </section>
  )
}

interface BalanceRowProps {
  readonly address: string
  readonly asset: string
  readonly isHiddenAtZero: boolean
}

function BalanceRow({ address, asset, isHiddenAtZero }: BalanceRowProps) {
  const { at } = route.value
  const balance = useText({ path: `/accounts/${encodeURIComponent(address)}/balance/${encodeURIComponent(asset)}`, at })
  const known = useAsset(asset)
  const history = useAnswer<readonly BalanceChange[]>({
    path: `${balanceHistoryPath(address, asset)}?order=asc&points=${SPARKLINE_POINTS}`,
  })
  const changes = history && 'value' in history ? history.value : []
  if (isHiddenAtZero && (!balance || !('value' in balance) || balance.value === '0')) return null
  return (
    <div class="balance-row">
      <div>
        <Link view={{ name: 'balance', address, asset, curve: {} }} title={asset}>
          <bdi>{known ? known.name : asset}</bdi>
        </Link>
        <small>
          <bdi>{known?.symbol ?? '\u00a0'}</bdi>
        </small>
      </div>
      <div>
        {changes.length > 1 && (
          <Sparkline
            label={`${groupDigits(String(changes.length))} changes in the window`}
            points={changes.map((change) => ({
              x: Number(change.version),
              y: change.balance === undefined ? null : Number(change.balance),
            }))}
          />
        )}
      </div>
      <div class="amount">
        {balance === undefined && <Loading />}
        {balance && 'failure' in balance && <FailureNotice failure={balance.failure} />}
        {balance && 'value' in balance && formatAmount(balance.value, known?.decimals ?? 0)}
      </div>
    </div>
  )
}

/** A note: a balance is a sum that the node computes, so no proof covers it. */
function BalancesUnproven({ address }: { readonly address: string }) {
  return (
    <NotProven>
      Balances are not proven: the node adds up what several values hold. What is stored at this address is, value by
      value, under <Link view={{ name: 'account', address, tab: 'resources' }}>Resources</Link>.
    </NotProven>
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
        placeholder="another asset: its type, address or name"
        list="known-assets"
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <datalist id="known-assets">
        {KNOWN_ASSETS.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button type="submit" disabled={text.trim() === ''}>
        Its balance
      </button>
    </form>
  )
}
