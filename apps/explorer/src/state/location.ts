import { signal } from '@preact/signals'
import { parseRoute, type Route, routeToHref } from './route.ts'

const here = () => parseRoute(window.location.pathname, window.location.search)

/** The route in the address of the page. */
export const route = signal<Route>(here())

window.addEventListener('popstate', () => {
  route.value = here()
})

/**
 * Goes to a route.
 * @param scroll whether to show the page from its top, or to stay where it is
 */
export function goTo(next: Route, scroll: 'top' | 'stay' = 'top'): void {
  const isSameView = viewOf(next) === viewOf(route.value)
  window.history.pushState(null, '', routeToHref(next))
  route.value = next
  if (scroll === 'top' && !isSameView) window.scrollTo(0, 0)
}

/** The view of a route as a text. Moving through time does not change it. */
function viewOf(one: Route): string {
  return routeToHref({ ...one, at: undefined })
}

/** Follows a link without loading the page anew, unless it is opened elsewhere. */
export function onLinkClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
  const link = (event.target as Element).closest('a[href]')
  const href = link?.getAttribute('href')
  if (!href?.startsWith('/') || href.startsWith('/v1') || link?.hasAttribute('download')) return
  event.preventDefault()
  const url = new URL(href, window.location.origin)
  goTo(parseRoute(url.pathname, url.search))
}
