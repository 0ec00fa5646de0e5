import type { Failure } from '../api/failure.ts'
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

/** Route to another version. A block leads to another view, all others to the same view. */
function routeAt(version: string): Route {
  const { view, at } = route.value
  return view.name === 'block' ? { view: { name: 'block', by: 'version', number: version }, at } : { view, at: version }
}

export function FailureNotice({ failure }: { readonly failure: Failure }) {
  const { kind, message, isSwitchedOff, oldestVersion, archivalEndpoint } = failure
  return (
    <section class={`notice notice-${kind}`} role="alert">
      <h2>{isSwitchedOff ? SWITCHED_OFF : TITLES[kind]}</h2>
      <p>{message}</p>
      {kind === 'pruned' && oldestVersion !== undefined && (
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
          <button type="button" onClick={() => goTo({ ...route.value, at: undefined })}>
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
