import type { BalanceChange } from '../api/answers.ts'
import { balanceHistoryPath } from '../api/history.ts'
import { LookButton } from '../components/change-place.tsx'
import { TransactionFacts } from '../components/transaction-facts.tsx'
import { formatAmount, formatDifference, formatMicroseconds, groupDigits } from '../state/amount.ts'
import { useAnswer } from '../state/use-answer.ts'

interface BalancePointProps {
  readonly address: string
  readonly asset: string
  readonly decimals: number
  /** Changes that the curve shows, the oldest first. */
  readonly changes: readonly BalanceChange[]
  readonly point: string | undefined
  readonly onChoose: (version: string) => void
  readonly onZoom: (from: string, to: string) => void
}

/**
 * The chosen point of a curve, with every digit. It has controls for all that the pointer does with the curve, for the
 * keyboard.
 */
export function BalancePoint(props: BalancePointProps) {
  const { address, asset, decimals, changes, point, onChoose, onZoom } = props
  const path = `${balanceHistoryPath(address, asset)}?to=${point}&limit=2`
  // The change before this one, which the curve may leave out.
  const found = useAnswer<readonly BalanceChange[]>(point === undefined ? undefined : { path })
  const [change, before] = found && 'value' in found ? found.value : []
  const at =
    point === undefined ? changes.length : changes.findLastIndex(({ version }) => BigInt(version) <= BigInt(point))
  const [earlier, later] = [changes[at - 1], changes[at + 1]]
  const reach = Math.max(1, Math.floor(changes.length / 4))
  const zoom = (): void => {
    const centre = Math.max(0, Math.min(changes.length - 1, at))
    onZoom(
      changes[Math.max(0, centre - reach)]!.version,
      changes[Math.min(changes.length - 1, centre + reach)]!.version,
    )
  }
  return (
    <div class="point">
      <div role="status">
        {change ? (
          <>
            {change.balance === undefined ? (
              <strong>cannot be read: {change.error?.message}</strong>
            ) : (
              <strong>{formatAmount(change.balance, decimals)}</strong>
            )}{' '}
            {change.balance !== undefined && before?.balance !== undefined && (
              <Difference of={BigInt(change.balance) - BigInt(before.balance)} decimals={decimals} />
            )}
            <br />
            <small>
              since version {groupDigits(change.version)}
              {change.timestamp !== null && ` · ${formatMicroseconds(change.timestamp)}`}
            </small>
            {change.transaction && <br />}
            <TransactionFacts transaction={change.transaction} />
          </>
        ) : (
          <small>Click a point for its version, time and difference; drag over a part to see it closer.</small>
        )}
      </div>
      <div class="inline point-buttons">
        <button type="button" disabled={!earlier} onClick={() => onChoose(earlier!.version)}>
          Earlier
        </button>
        <button type="button" disabled={!later} onClick={() => onChoose(later!.version)}>
          Later
        </button>
        <button type="button" disabled={changes.length < 3} onClick={zoom}>
          Closer
        </button>
        <LookButton change={change} />
      </div>
    </div>
  )
}

function Difference({ of, decimals }: { readonly of: bigint; readonly decimals: number }) {
  return <span class={of < 0n ? 'fall' : 'rise'}>{formatDifference(of, decimals)}</span>
}
