/** A leaf of a value that differs between two of its states; undefined where it is not there. */
export interface Difference {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** More of them are not told apart, and not read. */
const MOST_LEAVES = 2_000

/** The leaves in which two values of JSON differ, in the order of the first and then of the second. */
export function findDifferences(before: unknown, after: unknown): readonly Difference[] {
  const [old, young] = [leavesOf(before), leavesOf(after)]
  const paths = new Set([...old.keys(), ...young.keys()])
  return [...paths].flatMap((path) => {
    const difference = { path, before: old.get(path), after: young.get(path) }
    return difference.before === difference.after ? [] : [difference]
  })
}

function leavesOf(value: unknown): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>()
  const open: [string, unknown][] = value === null || value === undefined ? [] : [['', value]]
  while (open.length > 0 && leaves.size < MOST_LEAVES) {
    const [path, one] = open.pop()!
    if (typeof one !== 'object' || one === null) {
      leaves.set(path, String(one))
      continue
    }
    const members = Object.entries(one)
    if (members.length === 0) leaves.set(path, Array.isArray(one) ? '[ ]' : '{ }')
    for (const [name, member] of members.slice(0, MOST_LEAVES).reverse())
      open.push([path === '' ? name : `${path}.${name}`, member])
  }
  return leaves
}
