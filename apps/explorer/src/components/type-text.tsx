import { Fragment } from 'preact'
import { Link } from './link.tsx'

const STRUCT = /(0x[0-9a-f]{1,64}::\w+::\w+)/

/** A type, in which each struct is a link to the module that declares it. */
export function TypeText({ text }: { readonly text: string }) {
  return (
    <bdi class="type">
      {text.split(STRUCT).map((part, at) => {
        // Parts with odd indexes are matches of the pattern.
        const [address, module] = at % 2 === 1 ? part.split('::') : []
        return address !== undefined && module !== undefined ? (
          <Link key={at} view={{ name: 'module', address, module }}>
            {part}
          </Link>
        ) : (
          <Fragment key={at}>{part}</Fragment>
        )
      })}
    </bdi>
  )
}
