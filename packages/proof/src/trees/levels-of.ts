/** Number of levels below the root of an accumulator with this number of leaves. */
export function levelsOf(leaves: number): number {
  let levels = 0
  for (let rest = leaves - 1; rest > 0; rest = Math.floor(rest / 2)) levels++
  return levels
}
