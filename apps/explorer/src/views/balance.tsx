import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { BalanceChange } from '../api/answers.ts'
import { balanceHistoryPath } from '../api/history.ts'
import { ChangePlace } from '../components/change-place.tsx'
import { CsvButton } from '../components/csv-button.tsx'
import { Curve } from '../components/curve.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { AddressLink, Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { TransactionFacts } from '../components/transaction-facts.tsx'
import { NotProven } from '../proof/not-proven.tsx'
import { formatAmount, formatDifference } from '../state/amount.ts'
import { countChanges, countText } from '../state/count-text.ts'
import { curveEnd } from '../state/curve-ends.ts'
import { goTo, route } from '../state/location.ts'
import type { CurveView } from '../state/route.ts'
import { useText } from '../state/use-answer.ts'
import { useAsset } from '../state/use-asset.ts'
import { hasUnknownBefore, type Pages, useRangePages } from '../state/use-pages.ts'
import { BalancePoint } from './balance-point.tsx'

interface BalanceViewProps {
  readonly address: string
  readonly asset: string
  readonly curve: CurveView
}

/** Most changes of a curve, about two for each pixel. */
const POINTS = 4_000
const PAGE = 1_000
const ROW_HEIGHT = 56

export function BalanceView({ address, asset, curve }: BalanceViewProps) {
  const { at } = route.value
  const request = { path: `/accounts/${encodeURIComponent(address)}/balance/${encodeURIComponent(asset)}`, at }
  const balance = useText(request)
  const { answer, facts: known } = useAsset(asset)
  const decimals = known?.decimals ?? 0
  return (
    <>
      <h1>
        <bdi>{known?.name || (answer === undefined ? '\u00a0' : <span class="type">{asset}</span>)}</bdi>
      </h1>
      <p class="subtitle">
        of <AddressLink address={address} /> ·{' '}
        <Link view={{ name: 'asset', asset }}>
          <bdi class="type">{asset}</bdi>
        </Link>
      </p>
      <ForPrograms requests={[request, { path: `${balanceHistoryPath(address, asset)}?limit=${PAGE}` }]} />
      {(balance === undefined || (answer === undefined && 'value' in balance)) && (
        <p key="loading" class="balance loading" role="status">
          Loading…
        </p>
      )}
      {balance && 'failure' in balance && <FailureNotice failure={balance.failure} />}
      {balance && 'value' in balance && answer && (
        <p key="known" class="balance">
          {formatAmount(balance.value, decimals)}{' '}
          <small>
            <bdi>{known?.symbol}</bdi>
          </small>
        </p>
      )}
      <NotProven>
        A balance and its history are not proven: the node adds up amounts from several values, and a proof is of the
        state at one version.
      </NotProven>
      {/* Drawn once the decimals are known, which change the width of each amount. */}
      {answer && (
        <div class="curve-and-changes">
          <BalanceCurve key={`${address} ${asset}`} address={address} asset={asset} curve={curve} decimals={decimals}>
            <BalanceChanges address={address} asset={asset} decimals={decimals} />
          </BalanceCurve>
        </div>
      )}
    </>
  )
}

interface BalanceCurveProps extends BalanceViewProps {
  readonly decimals: number
  /** The part below the curve. It is drawn once the curve is, so that it does not move. */
  readonly children: ComponentChildren
}

function BalanceCurve({ address, asset, curve, decimals, children }: BalanceCurveProps) {
  const isTime = curve.by === undefined
  const range = new URLSearchParams({ order: 'asc', points: String(POINTS) })
  if (curve.from !== undefined) range.set('from', curve.from)
  if (curve.to !== undefined) range.set('to', curve.to)
  const request = { path: `${balanceHistoryPath(address, asset)}?${range}` }
  const pages = useRangePages<readonly BalanceChange[], BalanceChange>(request, (page) => page, { isEager: true })
  const seen = useSeenChanges(pages, curve)
  const changes = useMemo(() => seen.filter(({ timestamp }) => !isTime || timestamp !== null), [seen, isTime])
  const points = useMemo(() => changes.map((change) => toPoint(change, isTime, decimals)), [changes, isTime, decimals])
  const show = (next: Partial<CurveView>): void =>
    goTo({ view: { name: 'balance', address, asset, curve: { ...curve, ...next } }, at: route.value.at }, 'stay')
  if (changes.length === 0 && pages.isLoading) return <Loading />
  if (pages.failure || changes.length === 0) {
    return (
      <>
        {pages.failure ? (
          <FailureNotice failure={pages.failure} />
        ) : (
          <p class="empty">It did not change in the window of this node.</p>
        )}
        {children}
      </>
    )
  }
  const chosen = curve.point === undefined ? -1 : lastIndexAt(changes, curve.point)
  const isPart = curve.from !== undefined || curve.to !== undefined
  return (
    <>
      <section aria-label="Curve" aria-busy={pages.isLoading}>
        <div class="inline">
          <h2>History</h2>
          <button type="button" aria-pressed={isTime} onClick={() => show({ by: undefined })}>
            by time
          </button>
          <button type="button" aria-pressed={!isTime} onClick={() => show({ by: 'version' })}>
            by version
          </button>
          <button type="button" disabled={!isPart} onClick={() => show({ from: undefined, to: undefined })}>
            Whole window
          </button>
        </div>
        <Curve
          points={points}
          end={curve.to === undefined ? curveEnd(isTime) : undefined}
          isTime={isTime}
          label="Balance"
          changes={countChanges(changes)}
          chosen={chosen < 0 ? undefined : chosen}
          onChoose={(index) => show({ point: changes[index]!.version })}
          onZoom={(first, last) => show({ from: changes[first]!.version, to: changes[last]!.version })}
        />
        <BalancePoint
          address={address}
          asset={asset}
          decimals={decimals}
          changes={changes}
          point={curve.point}
          onChoose={(point) => show({ point })}
          onZoom={(from, to) => show({ from, to })}
        />
        {hasUnknownBefore(pages) && <p class="hint">Writes before the window are unknown.</p>}
      </section>
      {children}
    </>
  )
}

/**
 * Changes that the curve shows. While a part that the visitor zooms into is loading, the changes of that part that were
 * known before.
 */
function useSeenChanges(pages: Pages<BalanceChange>, { from, to }: CurveView): readonly BalanceChange[] {
  const before = useRef<readonly BalanceChange[]>([])
  const seen = useMemo(() => {
    if (!pages.isLoading) return pages.items
    const isInRange = ({ version }: BalanceChange): boolean =>
      (from === undefined || BigInt(version) >= BigInt(from)) && (to === undefined || BigInt(version) <= BigInt(to))
    return before.current.filter(isInRange)
  }, [pages.isLoading, pages.items, from, to])
  before.current = seen
  return seen
}

/** Index of the last change at or before a version; -1 if all are later. */
function lastIndexAt(changes: readonly BalanceChange[], version: string): number {
  return changes.findLastIndex((change) => BigInt(change.version) <= BigInt(version))
}

/**
 * A change as a point of the curve, which has numbers of 53 bits; the list below has every digit. The curve has a gap
 * if the balance cannot be read.
 */
function toPoint({ version, timestamp, balance }: BalanceChange, isTime: boolean, decimals: number) {
  const y = balance === undefined ? null : Number(balance) / 10 ** decimals
  return { x: isTime ? Number(timestamp) / 1e6 : Number(version), y }
}

interface BalanceChangesProps {
  readonly address: string
  readonly asset: string
  readonly decimals: number
}

function BalanceChanges({ address, asset, decimals }: BalanceChangesProps) {
  const path = `${balanceHistoryPath(address, asset)}?limit=${PAGE}`
  const pages = useRangePages<readonly BalanceChange[], BalanceChange>({ path }, (page) => page)
  const changes = pages.items
  // The curve next to it shows whether it is loading, empty or has failed.
  if (changes.length === 0) return null
  return (
    <section aria-label="Changes">
      <div class="inline">
        <h2>{countText(countChanges(changes), pages.more ? 'newest change' : 'change')}</h2>
        <CsvButton path={balanceHistoryPath(address, asset)} name="balance.csv" />
      </div>
      <LongList
        label="Changes of the balance"
        class="changes"
        isBoxed
        count={changes.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(at) => <ChangeRow change={changes[at]!} before={changes[at + 1]?.balance} decimals={decimals} />}
      />
      <MoreButton pages={pages} />
    </section>
  )
}

interface ChangeRowProps {
  readonly change: BalanceChange
  readonly before: string | undefined
  readonly decimals: number
}

function ChangeRow({ change, before, decimals }: ChangeRowProps) {
  const { balance, error, transaction } = change
  const difference = before === undefined || balance === undefined ? undefined : BigInt(balance) - BigInt(before)
  return (
    <div class="change">
      <ChangePlace change={change} />
      <span>
        {balance === undefined ? <span title={error?.message}>cannot be read</span> : formatAmount(balance, decimals)}
        <small class={difference !== undefined && difference < 0n ? 'fall' : 'rise'}>
          {difference === undefined ? '\u00a0' : formatDifference(difference, decimals)}
        </small>
      </span>
      <TransactionFacts transaction={transaction} />
    </div>
  )
}
