/** Limits on data that is fetched ahead. */
export interface FetchLimits {
  /** Number of fetches at one time before the first has ended. Each one that ends allows one more, up to `items`. */
  readonly atFirst: number
  readonly items: number
  /** Bytes of all items that are fetched and not yet taken. A single item may be larger. */
  readonly bytes: number
}

/**
 * Suffices for a link of 100 ms and 100 MB/s; a chunk of a network has 20 to 60 MB. It begins with two: fetches share
 * the link, and if eight began at once, the first would end only when all eight do.
 */
export const FETCH_LIMITS: FetchLimits = { atFirst: 2, items: 8, bytes: 256 * 1024 * 1024 }

/**
 * Yields the result of `fetch` for each item, in the order of the items, while it fetches the following items within
 * the limits. An error is thrown in its turn, after all earlier items were yielded.
 * @param bytesOf bytes that an item takes while it waits
 */
export async function* fetchAhead<T, R>(
  items: AsyncIterable<T>,
  bytesOf: (item: T) => number,
  fetch: (item: T) => Promise<R>,
  limits: FetchLimits = FETCH_LIMITS,
): AsyncGenerator<R, void> {
  const iterator = items[Symbol.asyncIterator]()
  const underWay: { readonly bytes: number; readonly result: Promise<R> }[] = []
  /** The next item, which waits for room. */
  let next: T | undefined
  let heldBytes = 0
  let most = Math.min(limits.atFirst, limits.items)
  let isEnd = false
  let isClosed = false
  let failure: { readonly error: unknown } | undefined
  let filling: Promise<void> | undefined

  const hasRoomFor = (bytes: number): boolean =>
    underWay.length === 0 || (underWay.length < most && heldBytes + bytes <= limits.bytes)

  const fill = async (): Promise<void> => {
    while (!isEnd && !isClosed && underWay.length < most) {
      if (next === undefined) {
        const { done, value } = await iterator.next()
        isEnd = done === true
        if (isEnd || isClosed) return
        next = value
      }
      const bytes = bytesOf(next!)
      if (!hasRoomFor(bytes)) return
      const result = fetch(next!)
      result.then(raise, () => {})
      heldBytes += bytes
      underWay.push({ bytes, result })
      next = undefined
    }
  }

  const beginFilling = (): void => {
    filling ??= fill().then(
      () => (filling = undefined),
      (error: unknown) => {
        ;[filling, isEnd, failure] = [undefined, true, { error }]
      },
    ) as Promise<void>
  }

  const raise = (): void => {
    if (most === limits.items) return
    most++
    beginFilling()
  }

  try {
    for (;;) {
      beginFilling()
      while (underWay.length === 0 && filling) await filling
      const first = underWay[0]
      if (!first) break
      const result = await first.result
      underWay.shift()
      heldBytes -= first.bytes
      beginFilling()
      yield result
    }
    if (failure) throw failure.error
  } finally {
    // A fetch or a look-up that is under way is not waited for: it may take long, and its result is not wanted.
    isClosed = true
    void iterator.return?.().catch(() => {})
  }
}
