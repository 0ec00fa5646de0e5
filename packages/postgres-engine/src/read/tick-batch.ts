/** Collects the items that are asked for in one tick, and answers them together, in parts of up to `most`. */
export function createTickBatch<Item, Result>(
  most: number,
  answer: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  interface Waiting {
    readonly item: Item
    resolve(result: Result): void
    reject(error: unknown): void
  }
  let waiting: Waiting[] = []

  async function answerPart(part: readonly Waiting[]): Promise<void> {
    try {
      const results = await answer(part.map(({ item }) => item))
      for (const [at, one] of part.entries()) one.resolve(results[at]!)
    } catch (error) {
      for (const one of part) one.reject(error)
    }
  }

  function flush(): void {
    const all = waiting
    waiting = []
    for (let at = 0; at < all.length; at += most) void answerPart(all.slice(at, at + most))
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ item, resolve, reject }) === 1) setImmediate(flush)
    })
}

/** Answers items in groups of the same branch, so that items of a branch that was cut off do not delay the others. */
export async function answerGroups<Item, Result>(
  items: readonly Item[],
  branchOfItem: (item: Item) => number,
  answer: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const groups = Map.groupBy(
    items.map((item, place) => ({ item, place })),
    ({ item }) => branchOfItem(item),
  )
  if (groups.size === 1) return await answer(items)
  const results: Result[] = new Array(items.length)
  const answerGroup = async (group: readonly { readonly item: Item; readonly place: number }[]) => {
    const answers = await answer(group.map(({ item }) => item))
    for (const [at, { place }] of group.entries()) results[place] = answers[at]!
  }
  await Promise.all([...groups.values()].map(answerGroup))
  return results
}
