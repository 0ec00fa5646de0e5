import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Number of rows that enter and leave the document together. */
const ROWS_OF_CHUNK = 25
/** Distance from the visible part up to which rows are in the document. */
const MARGIN = '600px'

interface LongListProps {
  readonly label: string
  readonly count: number
  /** Height in pixels of a row that has not been drawn yet. */
  readonly rowHeight: number
  /**
   * Draws a row again whenever it comes into view. State that the visitor changes in a row must therefore be kept
   * outside.
   */
  readonly row: (at: number) => ComponentChildren
  /** Called when the end comes into sight, to ask for more. */
  readonly onEnd?: (() => void) | undefined
  /** Whether the list scrolls in a separate box. */
  readonly isBoxed?: boolean
  readonly class?: string
}

/** A list of any length. Only the rows near the visible ones are in the document. Rows may differ in height. */
export function LongList({ label, count, rowHeight, row, onEnd, isBoxed = false, class: name = '' }: LongListProps) {
  const place = useRef<HTMLDivElement>(null)
  const { near, heights, isEndNear } = useNearChunks(place, Math.ceil(count / ROWS_OF_CHUNK), isBoxed)
  useEffect(() => {
    if (isEndNear) onEnd?.()
  }, [isEndNear, onEnd])
  const chunks = Array.from({ length: Math.ceil(count / ROWS_OF_CHUNK) }, (_, chunk) => {
    const first = chunk * ROWS_OF_CHUNK
    const rows = Math.min(ROWS_OF_CHUNK, count - first)
    const isDrawn = near.has(chunk)
    const height = isDrawn
      ? undefined
      : `${(heights.get(chunk) ?? rowHeight * ROWS_OF_CHUNK) * (rows / ROWS_OF_CHUNK)}px`
    return (
      <div key={chunk} data-chunk={chunk} style={{ height }}>
        {isDrawn && (
          <ul class="rows">
            {Array.from({ length: rows }, (_, at) => (
              <li key={at} aria-setsize={onEnd ? -1 : count} aria-posinset={first + at + 1}>
                {row(first + at)}
              </li>
            ))}
          </ul>
        )}
      </div>
    )
  })
  return (
    <section
      class={`long-list ${isBoxed ? 'long-list-boxed' : ''} ${name}`}
      aria-label={label}
      tabIndex={isBoxed ? 0 : undefined}
      ref={place}
    >
      {chunks}
      <div data-end="" />
    </section>
  )
}

/** The chunks near the visible part, the heights of chunks that were drawn, and whether the end of the list is near. */
function useNearChunks(place: { readonly current: HTMLElement | null }, chunks: number, isBoxed: boolean) {
  const heights = useRef(new Map<number, number>())
  const observer = useRef<IntersectionObserver | undefined>(undefined)
  const [near, setNear] = useState<ReadonlySet<number>>(new Set([0]))
  const [isEndNear, setEndNear] = useState(false)
  useEffect(() => {
    const seen = new Set([0])
    const look = (entries: readonly IntersectionObserverEntry[]): void => {
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        const { chunk } = (target as HTMLElement).dataset
        if (chunk === undefined) setEndNear(isIntersecting)
        else if (isIntersecting) seen.add(Number(chunk))
        else if (seen.delete(Number(chunk))) heights.current.set(Number(chunk), boundingClientRect.height)
      }
      setNear(new Set(seen))
    }
    const one = new IntersectionObserver(look, { root: isBoxed ? place.current : null, rootMargin: MARGIN })
    observer.current = one
    return () => one.disconnect()
  }, [isBoxed])
  useEffect(() => {
    for (const child of place.current?.children ?? []) observer.current?.observe(child)
  }, [chunks, isBoxed])
  return { near, heights: heights.current, isEndNear }
}
