import type { ComponentChildren } from 'preact'
import { route } from '../state/location.ts'
import { routeToHref, type View } from '../state/route.ts'

interface LinkProps {
  readonly view: View
  readonly children: ComponentChildren
  readonly title?: string
  /** Whether the link leads to the view that is shown. */
  readonly isHere?: boolean
}

/** A link to another view of the same state. */
export function Link({ view, children, title, isHere = false }: LinkProps) {
  return (
    <a href={routeToHref({ view, at: route.value.at })} title={title} aria-current={isHere ? 'page' : undefined}>
      {children}
    </a>
  )
}

/** A shortened address, with the whole address as its title. */
export function AddressLink({ address }: { readonly address: string }) {
  return (
    <Link view={{ name: 'account', address, tab: 'balances' }} title={address}>
      <code>{shortAddress(address)}</code>
    </Link>
  )
}

/** An address or a hash, shortened in the middle. Leading zeros are left out, as in most answers. */
export function shortAddress(text: string): string {
  const address = text.replace(/^0x0+(?=.)/, '0x')
  return address.length > 18 ? `${address.slice(0, 8)}…${address.slice(-6)}` : address
}
