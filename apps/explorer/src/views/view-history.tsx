import { useMemo, useState } from 'preact/hooks'
import { ChangeTime } from '../components/change-place.tsx'
import { Curve } from '../components/curve.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { cutText } from '../components/long-text.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { TransactionFacts } from '../components/transaction-facts.tsx'
import { formatAmount, groupDigits } from '../state/amount.ts'
import { countChanges, countText } from '../state/count-text.ts'
import { curveEnd } from '../state/curve-ends.ts'
import { goTo, route } from '../state/location.ts'
import type { ViewCall } from '../state/route.ts'
import { useAsset } from '../state/use-asset.ts'
import { useRangePages } from '../state/use-pages.ts'
import { callToBody, viewHistoryRequest } from '../state/view-call.ts'
import { assetOfCall, numberedResults, type ViewChange } from '../state/view-curve.ts'

interface ViewHistoryProps {
  readonly name: string
  readonly call: ViewCall
  /** Types of the results, as the module writes them. */
  readonly results: readonly string[]
}

const ROW_HEIGHT = 56
const MOST_DECIMALS = 38

/** Each change of a call's answer: a curve of one of its numbers, and a list. */
export function ViewHistory({ name, call, results }: ViewHistoryProps) {
  const pages = useRangePages<readonly ViewChange[], ViewChange>(
    viewHistoryRequest(callToBody(name, call)),
    (page) => page,
  )
  const { facts: known } = useAsset(assetOfCall(call))
  const [chosenResult, setResult] = useState<number | undefined>(undefined)
  const [decimalsGiven, setDecimals] = useState<number | undefined>(undefined)
  const changes = pages.items
  const numbers = useMemo(() => numberedResults(changes), [changes])
  const result = chosenResult ?? numbers[0]
  const decimals = decimalsGiven ?? known?.decimals ?? 0
  if (pages.failure) return <FailureNotice failure={pages.failure} />
  if (changes.length === 0) return pages.isLoading ? <Loading /> : null
  return (
    <section aria-label="History" aria-busy={pages.isLoading}>
      <div class="inline">
        <h2>{countText(countChanges(changes), pages.more ? 'newest change' : 'change')}</h2>
        {numbers.length > 1 && (
          <label>
            result{' '}
            <select value={result} onChange={(event) => setResult(Number(event.currentTarget.value))}>
              {numbers.map((at) => (
                <option key={at} value={at}>
                  {at}: {results[at] ?? ''}
                </option>
              ))}
            </select>
          </label>
        )}
        {numbers.length > 0 && (
          <label>
            decimals{' '}
            <input
              type="number"
              min={0}
              max={MOST_DECIMALS}
              value={decimals}
              onInput={(event) => setDecimals(clampDecimals(event.currentTarget.valueAsNumber))}
            />
          </label>
        )}
      </div>
      {result !== undefined && <CallCurve changes={changes} result={result} decimals={decimals} />}
      <LongList
        label="Changes, the newest first"
        class="changes"
        isBoxed
        count={changes.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(at) => <AnswerRow change={changes[at]!} result={result} decimals={decimals} />}
      />
      <MoreButton pages={pages} />
    </section>
  )
}

function clampDecimals(given: number): number {
  return Number.isInteger(given) ? Math.min(Math.max(given, 0), MOST_DECIMALS) : 0
}

interface CallCurveProps {
  readonly changes: readonly ViewChange[]
  readonly result: number
  readonly decimals: number
}

/** A curve in which a click goes to the version of a change. */
function CallCurve({ changes, result, decimals }: CallCurveProps) {
  const shown = useMemo(() => changes.filter(({ timestamp }) => timestamp !== null).toReversed(), [changes])
  const points = useMemo(
    () => shown.map((change) => ({ x: Number(change.timestamp) / 1e6, y: numberOf(change, result, decimals) })),
    [shown, result, decimals],
  )
  if (points.length < 2) return null
  return (
    <Curve
      points={points}
      end={curveEnd(true)}
      isTime
      label="Answer"
      changes={shown.length}
      chosen={undefined}
      onChoose={(at) => goTo({ view: route.value.view, at: shown[at]!.version }, 'stay')}
      onZoom={() => {}}
    />
  )
}

/** A result as a number of 53 bits; the list has every digit. Null, a gap, if the call fails. */
function numberOf({ values }: ViewChange, result: number, decimals: number): number | null {
  return values ? Number(values[result]) / 10 ** decimals : null
}

interface AnswerRowProps {
  readonly change: ViewChange
  readonly result: number | undefined
  readonly decimals: number
}

function AnswerRow({ change, result, decimals }: AnswerRowProps) {
  const { version, timestamp, values, error, transaction } = change
  const text = `version ${groupDigits(version)}`
  return (
    <div class="change">
      <span>
        {timestamp === null ? (
          text
        ) : (
          <button type="button" class="plain" onClick={() => goTo({ view: route.value.view, at: version }, 'stay')}>
            {text}
          </button>
        )}
        <ChangeTime timestamp={timestamp} />
      </span>
      <span>
        {values ? (
          <bdi>
            {result === undefined ? cutText(JSON.stringify(values)) : formatAmount(String(values[result]), decimals)}
          </bdi>
        ) : (
          <span title={error?.message}>the call fails</span>
        )}
      </span>
      <TransactionFacts transaction={transaction} />
    </div>
  )
}
