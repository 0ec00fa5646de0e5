import { Fragment } from 'preact'
import { formatDifference } from '../state/amount.ts'
import { type Difference, findDifferences, MOST_DIFFERENCES } from '../state/differences.ts'
import { type Amounts, amountAt } from '../state/use-amounts.ts'
import { cutText } from './long-text.tsx'

const FIRST_DIFFERENCES = 100

interface DifferencesProps {
  readonly before: unknown
  readonly after: unknown
  readonly amounts: Amounts | undefined
}

/** The differences between two states of a value, leaf by leaf. */
export function Differences({ before, after, amounts }: DifferencesProps) {
  const all = findDifferences(before, after)
  if (all.length === 0) return <p class="hint">The same value.</p>
  return (
    <table class="differences">
      <tbody>
        {all.slice(0, FIRST_DIFFERENCES).map((one) => (
          <DifferenceRow key={one.path} difference={one} amounts={amounts} />
        ))}
        {all.length > FIRST_DIFFERENCES && (
          <tr>
            <td colSpan={2}>and {all.length < MOST_DIFFERENCES ? all.length - FIRST_DIFFERENCES : 'many'} more</td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

interface DifferenceRowProps {
  readonly difference: Difference
  readonly amounts: Amounts | undefined
}

function DifferenceRow({ difference, amounts }: DifferenceRowProps) {
  const { path, before, after } = difference
  return (
    <tr>
      <th scope="row">
        <bdi>{path === '' ? 'value' : breakable(cutText(path))}</bdi>
      </th>
      <td>
        {before !== undefined && (
          <del>
            <bdi>{cutText(before)}</bdi>
          </del>
        )}{' '}
        {before !== undefined && after !== undefined && '→ '}
        {after !== undefined && (
          <ins>
            <bdi>{cutText(after)}</bdi>
          </ins>
        )}
        <AmountDifference difference={difference} amounts={amounts} />
      </td>
    </tr>
  )
}

/** A difference in the units of the metadata, with the amount that was added or taken. */
function AmountDifference({ difference: { path, before, after }, amounts }: DifferenceRowProps) {
  if (!amounts) return null
  // The place of the amount, until its asset is known.
  if (!amounts.facts) return amounts.paths.includes(path) ? <small class="in-units">{'\u00a0'}</small> : null
  const [old, young] = [amountAt(amounts, path, before), amountAt(amounts, path, after)]
  if (old === undefined && young === undefined) return null
  const { symbol, decimals } = amounts.facts
  const change = old !== undefined && young !== undefined ? BigInt(after!) - BigInt(before!) : undefined
  return (
    <small class="in-units">
      {[old, young].filter((one) => one !== undefined).join(' → ')} <bdi>{symbol}</bdi>
      {change !== undefined && (
        <>
          {', '}
          <span class={change < 0n ? 'fall' : 'rise'}>{formatDifference(change, decimals)}</span>
        </>
      )}
    </small>
  )
}

/** A path that may break after its dots. */
function breakable(path: string) {
  return path.split('.').map((name, at) => (
    <Fragment key={at}>
      {at > 0 && (
        <>
          .<wbr />
        </>
      )}
      {name}
    </Fragment>
  ))
}
