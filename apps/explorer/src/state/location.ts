import { signal } from '@preact/signals'
import { isNodeThere } from '../api/reachable.ts'
import { parseRoute, type Route, routeToHref } from './route.ts'

const here = () => parseRoute(window.location.pathname, window.location.search)

/** The route in the address of the page. */
export const route = signal<Route>(here())

/** A route that the visitor has chosen while the node does not answer. The page stays as it is until it answers. */
export const waitingRoute = signal<Route | undefined>(undefined)

/** Pause between two questions whether the node answers again. */
const PAUSE_MS = 1_000
/** Number of the newest move, which ends the wait of an earlier one. */
let moves = 0

/** Shows the route in the address of the page at once. */
export function showHere(): void {
  moves++
  waitingRoute.value = undefined
  route.value = here()
}

window.addEventListener('popstate', () => {
  void moveTo(here(), () => {})
})

/**
 * Goes to a route. If the node does not answer, the present view stays until it does.
 * @param scroll whether to show the page from its top, or to stay where it is
 */
export function goTo(next: Route, scroll: 'top' | 'stay' = 'top'): void {
  const isSameView = viewOf(next) === viewOf(route.value)
  void moveTo(next, () => {
    window.history.pushState(null, '', routeToHref(next))
    if (scroll === 'top' && !isSameView) window.scrollTo(0, 0)
  })
}

/** Stays at the present route, and forgets the one that the page waits for. */
export function stayHere(): void {
  moves++
  waitingRoute.value = undefined
}

/** Shows a route once the node answers. */
async function moveTo(next: Route, before: () => void): Promise<void> {
  const move = ++moves
  waitingRoute.value = undefined
  while (!(await isNodeThere())) {
    if (move !== moves) return
    waitingRoute.value = next
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    if (move !== moves) return
  }
  if (move !== moves) return
  waitingRoute.value = undefined
  before()
  route.value = next
}

/** The view of a route as a text. Moving through time does not change it. */
function viewOf(one: Route): string {
  return routeToHref({ ...one, at: undefined })
}

/** Follows a link without loading the page again, unless it is opened elsewhere. */
export function onLinkClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
  const link = (event.target as Element).closest('a[href]')
  const href = link?.getAttribute('href')
  if (!href?.startsWith('/') || href.startsWith('/v1') || link?.hasAttribute('download')) return
  event.preventDefault()
  const url = new URL(href, window.location.origin)
  goTo(parseRoute(url.pathname, url.search))
}
