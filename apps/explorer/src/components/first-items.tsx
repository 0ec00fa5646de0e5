import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface FirstItemsProps<T> {
  readonly items: readonly T[]
  /** Number of items that are shown at first, and that each click adds. */
  readonly step: number
  /** Name of the items, in the plural. */
  readonly what: string
  /** Draws the shown items. */
  readonly children: (shown: readonly T[]) => ComponentChildren
}

/** The first items of a list, with a button for the next ones: a module may have tens of thousands. */
export function FirstItems<T>({ items, step, what, children }: FirstItemsProps<T>) {
  const [count, setCount] = useState(step)
  const rest = items.length - count
  return (
    <>
      {children(items.slice(0, count))}
      {rest > 0 && (
        <button type="button" class="fold" onClick={() => setCount(count + step)}>
          {Math.min(step, rest)} more of {items.length} {what}
        </button>
      )}
    </>
  )
}
