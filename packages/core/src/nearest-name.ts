/** Longest name that is compared: longer ones are not misspelt keys. */
const LONGEST_NAME = 64

/**
 * The known name that `name` most likely means: it differs by one or two typing errors, ignoring case, hyphens and
 * underscores, or its last word is `name`. Undefined if there is none.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined
  const plain = plainName(name)
  let nearest: string | undefined
  let least = mostSlips(plain) + 1
  for (const candidate of known) {
    const plainCandidate = plainName(candidate)
    const isLastWord = plain.length > 3 && new RegExp(`[-_]${plain}$`).test(candidate)
    const slips = isLastWord ? 1 : countSlips(plain, plainCandidate)
    if (slips >= least && !(isLastWord && nearest === undefined)) continue
    nearest = candidate
    least = slips
  }
  return nearest
}

/**
 * The end of a message about an unknown name: `; did you mean NAME?` with the nearest known name as `show` writes it.
 * Empty if no known name is near.
 */
export function didYouMean(name: string, known: readonly string[], show = (nearest: string) => nearest): string {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : `; did you mean ${show(nearest)}?`
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/**
 * Most slips that a name of this length may have. Short names get few, because nearly all of them are near to each
 * other.
 */
function mostSlips({ length }: string): number {
  return length >= 7 ? 2 : length >= 4 ? 1 : 0
}

/** Least number of letters left out, added, replaced or exchanged with their neighbour (optimal string alignment). */
function countSlips(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isExchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const exchanged = isExchange ? beforeLast[j - 2]! + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, replaced, exchanged))
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
