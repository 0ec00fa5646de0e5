import { Fragment } from 'preact'

/** A name such as `coin::Coin`, which wraps at its colons before it wraps within a word. */
export function NameParts({ name }: { readonly name: string }) {
  return (
    <>
      {name.split('::').map((part, at) => (
        <Fragment key={at}>
          {at > 0 && (
            <>
              ::
              <wbr />
            </>
          )}
          {part}
        </Fragment>
      ))}
    </>
  )
}
