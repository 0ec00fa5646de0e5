import { type Failure, isLeftOut } from '../api/failure.ts'
import { groupDigits } from '../state/amount.ts'
import { goTo, route } from '../state/location.ts'
import type { Route } from '../state/route.ts'

const TITLES: Readonly<Record<Failure['kind'], string>> = {
  absent: 'Not there',
  pruned: 'No longer kept',
  future: 'Not there yet',
  invalid: 'That cannot be read',
  overloaded: 'The node is busy; asking again',
  unreachable: 'The node does not answer; asking again',
  failed: 'The node failed',
}
const SWITCHED_OFF = 'This node does not serve it'

/** Title for data that a node with a part of the ledger does not have in any state. */
const LEFT_OUT = 'Not kept by this node'

/** Route to another version. A block leads to another view, all others to the same view, and a curve to all of it. */
function routeAt(version: string | undefined): Route {
  const { view, at } = route.value
  if (view.name === 'block' && version !== undefined) return { view: { ...view, by: 'version', number: version }, at }
  if (view.name === 'balance') {
    const { by, point } = view.curve
    return { view: { ...view, curve: { by, point } }, at: version }
  }
  return { view, at: version }
}

export function FailureNotice({ failure }: { readonly failure: Failure }) {
  const { kind, message, isSwitchedOff, oldestVersion, archivalEndpoint } = failure
  return (
    <section class={`notice notice-${kind}`} role="alert">
      <h2>{isSwitchedOff ? SWITCHED_OFF : isLeftOut(failure) ? LEFT_OUT : TITLES[kind]}</h2>
      <p>{message}</p>
      {oldestVersion !== undefined && (
        <p>
          The window of this node begins at version {groupDigits(oldestVersion)}.{' '}
          <button type="button" onClick={() => goTo(routeAt(oldestVersion))}>
            Look there
          </button>
        </p>
      )}
      {kind === 'future' && (
        <p>
          This page shows it once it is there.{' '}
          <button type="button" onClick={() => goTo(routeAt(undefined))}>
            Look at the latest
          </button>
        </p>
      )}
      {archivalEndpoint !== undefined && (
        <p>
          Older versions are served by <a href={archivalEndpoint}>{archivalEndpoint}</a>.
        </p>
      )}
    </section>
  )
}
