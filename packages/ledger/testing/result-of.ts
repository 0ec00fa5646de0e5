/** Runs a search to its end. */
export function resultOf<T>(search: Generator<void, T>): T {
  for (;;) {
    const { done, value } = search.next()
    if (done) return value
  }
}
