import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ValueChange } from '../api/answers.ts'
import type { AssetFacts } from '../api/asset.ts'
import { ChangePlace } from '../components/change-place.tsx'
import { Curve } from '../components/curve.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { TransactionFacts } from '../components/transaction-facts.tsx'
import { formatAmount, formatDifference } from '../state/amount.ts'
import type { SupplySource } from '../state/asset-supply.ts'
import { countChanges, countText } from '../state/count-text.ts'
import { curveBegin, curveEnd } from '../state/curve-ends.ts'
import { goTo, route } from '../state/location.ts'
import { memberOf } from '../state/member-of.ts'
import { useRangePages } from '../state/use-pages.ts'

const PAGE = 1_000
const ROW_HEIGHT = 56

interface AssetSupplyProps {
  readonly source: SupplySource
  readonly facts: AssetFacts
  /** The part below the supply. It is drawn once the changes are known, so that it does not move. */
  readonly children: ComponentChildren
}

/** A change of the supply; its amount is undefined if it cannot be read. */
interface SupplyChange {
  readonly change: ValueChange
  readonly supply: string | undefined
}

/** The curve of a supply, and its changes. */
export function AssetSupply({ source, facts, children }: AssetSupplyProps) {
  const { history, path } = source
  const request = { ...history, path: `${history.path}?limit=${PAGE}` }
  const pages = useRangePages<readonly ValueChange[], ValueChange>(request, (page) => page)
  const changes = useMemo(() => toSupplyChanges(pages.items, path), [pages.items, path.join()])
  const timed = useMemo(() => changes.filter(({ change }) => change.timestamp !== null).toReversed(), [changes])
  const points = useMemo(() => toPoints(changes, facts.decimals), [changes, facts.decimals])
  const count = countChanges(changes.map(({ change }) => change))
  if (pages.isLoading && changes.length === 0) return <Loading />
  return (
    <>
      <section aria-label="Supply">
        <h2>
          Supply<small>{`, ${countText(count, pages.more ? 'newest change' : 'change')} in the window`}</small>
        </h2>
        <div class="curve-place">
          {points.length > 0 && (
            <Curve
              points={points}
              end={curveEnd(true)}
              isTime
              label="Supply"
              changes={count}
              chosen={undefined}
              onChoose={(at) => {
                const chosen = timed[at - (points.length - timed.length)]
                if (chosen) goTo({ view: route.value.view, at: chosen.change.version }, 'stay')
              }}
              onZoom={() => {}}
            />
          )}
        </div>
        {count > 0 && (
          <LongList
            label="Changes of the supply"
            class="changes"
            isBoxed
            count={changes.length}
            rowHeight={ROW_HEIGHT}
            onEnd={pages.more}
            row={(at) => <SupplyRow change={changes[at]!} before={changes[at + 1]?.supply} facts={facts} />}
          />
        )}
        <MoreButton pages={pages} />
      </section>
      {children}
    </>
  )
}

/** The changes in which the supply differs: the value that counts it may have other members. */
function toSupplyChanges(values: readonly ValueChange[], path: readonly string[]): readonly SupplyChange[] {
  const read = values.map((change) => ({ change, supply: supplyIn(change.value, path) }))
  return read.filter(({ supply }, at) => at === read.length - 1 || supply !== read[at + 1]!.supply)
}

function supplyIn(value: unknown, path: readonly string[]): string | undefined {
  return path.length === 0 && typeof value === 'string' ? value : memberOf(value, path)
}

/** Points over time. The supply at the beginning of the window, whose time is unknown, begins at the first block. */
function toPoints(changes: readonly SupplyChange[], decimals: number) {
  const begin = curveBegin(true)
  return changes.toReversed().flatMap(({ change: { timestamp }, supply }) => {
    const x = timestamp === null ? begin : Number(timestamp) / 1e6
    return x === undefined ? [] : [{ x, y: supply === undefined ? null : Number(supply) / 10 ** decimals }]
  })
}

interface SupplyRowProps {
  readonly change: SupplyChange
  readonly before: string | undefined
  readonly facts: AssetFacts
}

function SupplyRow({ change: { change, supply }, before, facts }: SupplyRowProps) {
  const difference = before === undefined || supply === undefined ? undefined : BigInt(supply) - BigInt(before)
  return (
    <div class="change">
      <ChangePlace change={change} />
      <span>
        {supply === undefined ? 'cannot be read' : formatAmount(supply, facts.decimals)}
        <small class={difference !== undefined && difference < 0n ? 'fall' : 'rise'}>
          {difference === undefined ? '\u00a0' : formatDifference(difference, facts.decimals)}
        </small>
      </span>
      <TransactionFacts transaction={change.transaction} />
    </div>
  )
}
