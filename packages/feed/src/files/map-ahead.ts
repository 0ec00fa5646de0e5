/** Gives what `work` makes of each item, in the order of the items, while it works on up to `most` of them at once. */
export async function* mapAhead<T, R>(
  items: Iterable<T>,
  most: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void> {
  const underWay: Promise<R>[] = []
  for (const item of items) {
    const result = work(item)
    // Its error is thrown in its turn.
    result.catch(() => {})
    underWay.push(result)
    if (underWay.length >= most) yield await underWay.shift()!
  }
  for (const result of underWay) yield await result
}
