import type { Holding } from '../api/answers.ts'
import { type AssetFacts, isCoin } from '../api/asset.ts'
import { CsvButton } from '../components/csv-button.tsx'
import { AddressLink, Link, shortAddress } from '../components/link.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { formatAmount, groupDigits } from '../state/amount.ts'
import { countText } from '../state/count-text.ts'
import { route } from '../state/location.ts'
import { formatShare, shareOf } from '../state/share.ts'
import { mayHaveItems, useStatePages } from '../state/use-pages.ts'

const PAGE = 100
const ROW_HEIGHT = 56

type Order = 'amount' | 'address'

export function holdersPath(asset: string, order: Order): string {
  return `/assets/${encodeURIComponent(asset)}/holders?order=${order}&limit=${PAGE}`
}

interface AssetHoldersProps {
  readonly asset: string
  readonly facts: AssetFacts
  /** Undefined if the issuer does not count it. */
  readonly supply: string | undefined
  /** The other form of the asset, if it is both a coin and a fungible asset. */
  readonly paired: string | null
}

/** Holders of an asset, the largest first. A node does not sort the holders of an asset that has very many. */
export function AssetHolders(props: AssetHoldersProps) {
  const pages = useHolders(props.asset, 'amount')
  if (pages.failure?.kind === 'invalid') return <UnsortedHolders {...props} />
  return <HolderList {...props} pages={pages} order="amount" />
}

function UnsortedHolders(props: AssetHoldersProps) {
  return <HolderList {...props} pages={useHolders(props.asset, 'address')} order="address" />
}

function useHolders(asset: string, order: Order) {
  return useStatePages<readonly Holding[], Holding>(
    { path: holdersPath(asset, order), at: route.value.at },
    (page) => page,
  )
}

interface HolderListProps extends AssetHoldersProps {
  readonly pages: ReturnType<typeof useHolders>
  readonly order: Order
}

function HolderList({ asset, facts, supply, paired, pages, order }: HolderListProps) {
  const holders = pages.items
  return (
    <section aria-label="Holders">
      <div class="inline">
        <h2 key={String(pages.isLoading)}>
          {headingOf(holders.length, pages.isLoading || pages.more !== undefined)}
          {order === 'amount' && holders.length > 1 && <small>, the largest first</small>}
        </h2>
        {mayHaveItems(pages) && (
          <CsvButton
            path={`/assets/${encodeURIComponent(asset)}/holders`}
            at={route.value.at}
            isOfState
            name="holders.csv"
          />
        )}
      </div>
      <LongList
        label="Holders of the asset"
        class="holders"
        count={holders.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(at) => <HolderRow holding={holders[at]!} rank={at + 1} facts={facts} supply={supply} />}
      />
      {!pages.isLoading && !pages.failure && holders.length === 0 && (
        <p class="empty">
          {paired === null ? (
            'Nobody holds it at this version.'
          ) : (
            <>
              Nobody holds it as a {isCoin(asset) ? 'coin' : 'fungible asset'} at this version.{' '}
              <Link view={{ name: 'asset', asset: paired }}>
                Holders of the {isCoin(paired) ? 'coin' : 'fungible asset'}
              </Link>
            </>
          )}
        </p>
      )}
      <MoreButton pages={pages} />
    </section>
  )
}

function headingOf(count: number, isPart: boolean): string {
  if (isPart) return 'Holders'
  return count === 0 ? 'No holders' : countText(count, 'holder')
}

interface HolderRowProps {
  readonly holding: Holding
  readonly rank: number
  readonly facts: AssetFacts
  readonly supply: string | undefined
}

function HolderRow({ holding, rank, facts, supply }: HolderRowProps) {
  const { owner_address: owner, storage_id: store, is_primary, is_frozen, amount } = holding
  const share = shareOf(amount, supply)
  return (
    <div class="holder">
      <span class="rank">{groupDigits(String(rank))}</span>
      <span>
        <AddressLink address={owner} />
        {!is_primary && (
          <small>
            in its store{' '}
            <Link view={{ name: 'account', address: store, tab: 'resources' }} title={store}>
              <code>{shortAddress(store)}</code>
            </Link>
          </small>
        )}
        {is_frozen && <small class="mark">frozen</small>}
      </span>
      <span class="amount">
        {formatAmount(amount, facts.decimals)}
        {share !== undefined && (
          <small class="share">
            <span class="share-bar" aria-hidden="true">
              <span class="share-part" style={{ width: `${Math.min(100, share)}%` }} />
            </span>
            <span class="share-text">{formatShare(share, amount === '0')}</span>
          </small>
        )}
      </span>
    </div>
  )
}
