/** A leaf of a value that differs between two states; its old or new value is undefined if it is absent there. */
export interface Difference {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Number of differences at which the search ends. */
export const MOST_DIFFERENCES = 1_000

/** The first leaves in which two JSON values differ, in the order of the first value and then of the second. */
export function findDifferences(before: unknown, after: unknown): readonly Difference[] {
  const found: Difference[] = []
  const open: [path: string, before: unknown, after: unknown][] = [['', before ?? undefined, after ?? undefined]]
  while (open.length > 0 && found.length < MOST_DIFFERENCES) {
    const [path, old, young] = open.pop()!
    if (old === young) continue
    const [oldMembers, youngMembers] = [membersOf(old), membersOf(young)]
    if (oldMembers.size === 0 && youngMembers.size === 0) {
      const difference = { path, before: leafToText(old), after: leafToText(young) }
      if (difference.before !== difference.after) found.push(difference)
      continue
    }
    // If a leaf takes the place of members, or members of a leaf, the leaf is listed together with them.
    if (oldMembers.size === 0 && old !== undefined) found.push({ path, before: leafToText(old), after: undefined })
    if (youngMembers.size === 0 && young !== undefined)
      found.push({ path, before: undefined, after: leafToText(young) })
    for (const name of [...new Set([...oldMembers.keys(), ...youngMembers.keys()])].reverse())
      open.push([path === '' ? name : `${path}.${name}`, oldMembers.get(name), youngMembers.get(name)])
  }
  return found
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : [])
}

/** Text of a value without members; undefined for others. */
function leafToText(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[ ]' : '{ }'
  return value === undefined ? undefined : String(value)
}
