/** Depth down to which members are open from the start. */
const OPEN_DEPTH = 3
/** Members that are shown before the visitor asks for all. */
export const FIRST_MEMBERS = 50
/** Most members that are open from the start: three levels of 50 would be 125,000. */
const MOST_OPEN = 500

/**
 * Depth down to which the members of a value are open from the start. The first level is always open.
 * @param depth depth of the value itself
 */
export function openDepthOf(value: unknown, depth = 0): number {
  let level: readonly unknown[] = [value]
  let open = 0
  for (let to = depth; to < OPEN_DEPTH; to++) {
    level = level.flatMap(firstMembers)
    open += level.length
    if (open > MOST_OPEN) return to
  }
  return OPEN_DEPTH
}

function firstMembers(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return (Array.isArray(value) ? value : Object.values(value)).slice(0, FIRST_MEMBERS)
}
