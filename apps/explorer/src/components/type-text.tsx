import { Fragment } from 'preact'
import { Link } from './link.tsx'

const STRUCT = /(0x[0-9a-f]{1,64}::\w+::\w+)/
/** Most links in a type. A hostile module may name structs a hundred thousand times. */
const MOST_LINKS = 100
/** Longest type that is shown whole. */
const MOST_CHARACTERS = 5_000

/** A type, in which each struct is a link to the module that declares it. */
export function TypeText({ text }: { readonly text: string }) {
  const shown = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
  return (
    <bdi class="type">
      {shown.split(STRUCT).map((part, at) => {
        // Parts with odd indexes are matches of the pattern.
        const [address, module] = at % 2 === 1 && at < 2 * MOST_LINKS ? part.split('::') : []
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
