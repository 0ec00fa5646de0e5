import { useMemo, useState } from 'preact/hooks'
import type { BalanceChange, Holding } from '../api/answers.ts'
import { type AssetFacts, isCoin, KNOWN_ASSETS, resourceToAssetFacts, textToAsset } from '../api/asset.ts'
import { balanceHistoryPath } from '../api/history.ts'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link, shortAddress } from '../components/link.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { Sparkline } from '../components/sparkline.tsx'
import { NotProven } from '../proof/not-proven.tsx'
import { formatAmount } from '../state/amount.ts'
import { countChanges, countText } from '../state/count-text.ts'
import { curveEnd } from '../state/curve-ends.ts'
import { goTo, route } from '../state/location.ts'
import { type AssetTotal, totalsOf } from '../state/totals.ts'
import { useAnswer } from '../state/use-answer.ts'
import { useStatePages } from '../state/use-pages.ts'

const PAGE = 100
const SPARKLINE_POINTS = 160
const ROW_HEIGHT = 64
/** Stores of an asset that a row lists; an account may have thousands. */
const MOST_STORES = 8

/** Everything that an account holds, added up for each asset. */
export function AccountBalances({ address }: { readonly address: string }) {
  const { at } = route.value
  const request = {
    path: `/accounts/${encodeURIComponent(address)}/balances?with_metadata=true&limit=${PAGE}`,
    at,
  }
  const pages = useStatePages<readonly Holding[], Holding>(request, (page) => page)
  const totals = useMemo(() => totalsOf(pages.items), [pages.items])
  const isPart = pages.isLoading || pages.more !== undefined || pages.failure !== undefined
  return (
    <section aria-label="Holdings">
      <ForPrograms requests={[{ path: `/accounts/${encodeURIComponent(address)}`, at }, request]} />
      <OtherAsset address={address} />
      <HoldingsUnproven address={address} />
      <LongList
        label="Holdings of the account"
        class="balances"
        count={totals.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(index) => (
          <TotalRow key={totals[index]!.asset} address={address} total={totals[index]!} isPart={isPart} />
        )}
      />
      {!pages.isLoading && !pages.failure && totals.length === 0 && !pages.more && (
        <p class="empty">It holds no coins and no fungible assets at this version.</p>
      )}
      <MoreButton pages={pages} />
    </section>
  )
}

interface TotalRowProps {
  readonly address: string
  readonly total: AssetTotal
  /** Whether the account may have further stores. */
  readonly isPart: boolean
}

function TotalRow({ address, total, isPart }: TotalRowProps) {
  const { asset, amount, stores } = total
  const metadata = stores[0]?.metadata
  const facts = metadata ? resourceToAssetFacts({ data: metadata }) : undefined
  return (
    <div class="balance-row">
      <div>
        <Link view={{ name: 'balance', address, asset, curve: {} }} title={asset}>
          <bdi>{facts?.name || shortAsset(asset)}</bdi>
        </Link>
        <small>
          <Link view={{ name: 'asset', asset }} title={asset}>
            <bdi>{facts?.symbol || 'the asset'}</bdi>
          </Link>
        </small>
      </div>
      <BalanceSparkline address={address} asset={asset} />
      <div class="amount">
        {/* An account has one store of a coin, and any number of stores of a fungible asset. */}
        {isPart && !isCoin(asset) && 'at least '}
        {formatAmount(amount, facts?.decimals ?? 0)}
      </div>
      <Stores stores={stores} facts={facts} />
    </div>
  )
}

/** An asset without a name, short enough for a row. */
function shortAsset(asset: string): string {
  const [address = '', ...more] = asset.split('::')
  return [shortAddress(address), ...more].join('::')
}

/** The stores of an asset, if it is held in another way than all of it in the store by default. */
function Stores({ stores, facts }: { readonly stores: readonly Holding[]; readonly facts: AssetFacts | undefined }) {
  if (stores.length === 1 && stores[0]!.is_primary && !stores[0]!.is_frozen) return null
  return (
    <ul class="stores" aria-label="Stores">
      {stores.slice(0, MOST_STORES).map(({ storage_id: store, is_primary, is_frozen, amount }) => (
        <li key={store}>
          {is_primary ? (
            'primary store'
          ) : (
            <>
              store{' '}
              <Link view={{ name: 'account', address: store, tab: 'resources' }} title={store}>
                <code>{shortAddress(store)}</code>
              </Link>
            </>
          )}
          {is_frozen && ', frozen'}: {formatAmount(amount, facts?.decimals ?? 0)}
        </li>
      ))}
      {stores.length > MOST_STORES && <li>and {countText(stores.length - MOST_STORES, 'more store')}</li>}
    </ul>
  )
}

/** The balance of an asset in the window, in the coin store and the primary store. */
function BalanceSparkline({ address, asset }: { readonly address: string; readonly asset: string }) {
  const history = useAnswer<readonly BalanceChange[]>({
    path: `${balanceHistoryPath(address, asset)}?order=asc&points=${SPARKLINE_POINTS}`,
  })
  const changes = history && 'value' in history ? history.value : []
  const end = curveEnd(false)
  const points = changes.map(({ version, balance }) => ({
    x: Number(version),
    y: balance === undefined ? null : Number(balance),
  }))
  const last = points.at(-1)
  return (
    <div>
      {last && (
        <Sparkline
          label={`${countText(countChanges(changes), 'change')} in the window`}
          points={end !== undefined && end > last.x ? [...points, { x: end, y: last.y }] : points}
        />
      )}
    </div>
  )
}

/** A note: the node adds up several values, so no proof covers a total. */
function HoldingsUnproven({ address }: { readonly address: string }) {
  return (
    <NotProven>
      Balances are not proven: the node adds up amounts from several values. The values stored at this address are
      proven one by one under <Link view={{ name: 'account', address, tab: 'resources' }}>Resources</Link>.
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
