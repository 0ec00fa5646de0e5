import type { Activity } from '../api/answers.ts'
import { transactionHref } from '../api/network-name.ts'
import { CsvButton } from '../components/csv-button.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link, shortAddress } from '../components/link.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { NotProven } from '../proof/not-proven.tsx'
import { formatAmount, formatDifference, formatMicroseconds, groupDigits } from '../state/amount.ts'
import { newest } from '../state/ledger.ts'
import { route } from '../state/location.ts'
import { useAsset } from '../state/use-asset.ts'
import { hasUnknownBefore, mayHaveItems, useRangePages } from '../state/use-pages.ts'

const PAGE = 100
const ROW_HEIGHT = 64

/** Each change of the holdings of an account, the newest first, up to the state of the page. */
export function AccountActivities({ address }: { readonly address: string }) {
  const { at } = route.value
  const path = `/accounts/${encodeURIComponent(address)}/activities`
  const to = at === undefined ? '' : `&to=${encodeURIComponent(at)}`
  const request = { path: `${path}?limit=${PAGE}${to}` }
  const pages = useRangePages<readonly Activity[], Activity>(request, (page) => page)
  const activities = pages.items
  return (
    <section aria-label="Activities">
      <ForPrograms requests={[request]} />
      <NotProven>Activities are not proven: a proof is of the state at one version.</NotProven>
      <div class="inline">
        <h2>Changes of its holdings</h2>
        {mayHaveItems(pages) && <CsvButton path={path} at={at} name="activities.csv" />}
      </div>
      <LongList
        label="Activities, the newest first"
        class="changes"
        count={activities.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(index) => <ActivityRow address={address} activity={activities[index]!} />}
      />
      {!pages.isLoading && !pages.failure && activities.length === 0 && !pages.more && (
        <p class="empty">Its holdings did not change in the window of this node.</p>
      )}
      {hasUnknownBefore(pages) && <p class="hint">Changes before the window are unknown.</p>}
      <MoreButton pages={pages} />
    </section>
  )
}

function ActivityRow({ address, activity }: { readonly address: string; readonly activity: Activity }) {
  const { version, timestamp, asset_type: asset, storage_id: store, after, change, transaction_hash: hash } = activity
  const { answer: asked, facts } = useAsset(asset)
  const isKnown = asked !== undefined
  const decimals = facts?.decimals ?? 0
  const href = hash === undefined || !newest.value ? undefined : transactionHref(newest.value.chainId, hash)
  return (
    <div class="activity">
      <span>
        <Link view={{ name: 'block', by: 'version', number: version }}>version {groupDigits(version)}</Link>
        <small>{formatMicroseconds(timestamp)}</small>
      </span>
      <span class="activity-asset">
        <Link view={{ name: 'balance', address, asset, curve: { point: version } }} title={asset}>
          <bdi>{facts?.name || (isKnown ? 'asset' : '\u00a0')}</bdi>
        </Link>
        {store !== address && (
          <small title={store}>
            {activity.token_standard === 'v1' ? 'coin' : 'store'} <code>{shortAddress(store)}</code>
          </small>
        )}
      </span>
      <span class="amount">
        {/* Drawn once the decimals are known: it is aligned to the right. */}
        {isKnown && (
          <span class={change.startsWith('-') ? 'fall' : 'rise'}>
            {formatDifference(BigInt(change), decimals)} <bdi>{facts?.symbol}</bdi>
          </span>
        )}
        {isKnown && <small>then {formatAmount(after, decimals)}</small>}
      </span>
      {hash !== undefined && (
        <small class="transaction">
          transaction{' '}
          {href === undefined ? (
            <code title={hash}>{shortAddress(hash)}</code>
          ) : (
            <a href={href} rel="noreferrer">
              <code title={hash}>{shortAddress(hash)}</code>
            </a>
          )}
        </small>
      )}
    </div>
  )
}
