import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** In pixels. */
const ROW_HEIGHT = 56
/** Rows beside those that are seen. */
const MARGIN = 8

interface VirtualRowsProps {
  readonly label: string
  readonly count: number
  readonly row: (at: number) => ComponentChildren
  /** Called when the end comes into sight. */
  readonly onEnd: (() => void) | undefined
}

/** A list of any length, of which only the rows in sight are in the document. */
export function VirtualRows({ label, count, row, onEnd }: VirtualRowsProps) {
  const place = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState({ top: 0, height: 600 })
  const look = (): void => {
    const { scrollTop, clientHeight } = place.current!
    setSeen({ top: scrollTop, height: clientHeight })
  }
  useEffect(look, [count])
  const first = Math.max(0, Math.floor(seen.top / ROW_HEIGHT) - MARGIN)
  const last = Math.min(count, Math.ceil((seen.top + seen.height) / ROW_HEIGHT) + MARGIN)
  useEffect(() => {
    // The first page is followed by others only once somebody scrolls.
    if (seen.top > 0 && last >= count) onEnd?.()
  }, [seen.top, last, count, onEnd])
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section class="rows" ref={place} onScroll={look} tabIndex={0} aria-label={label}>
      <ul class="rows-all" style={{ height: `${count * ROW_HEIGHT}px` }}>
        {rows.map((at) => (
          <li
            key={at}
            class="row"
            aria-setsize={count}
            aria-posinset={at + 1}
            style={{ top: `${at * ROW_HEIGHT}px`, height: `${ROW_HEIGHT}px` }}
          >
            {row(at)}
          </li>
        ))}
      </ul>
    </section>
  )
}
