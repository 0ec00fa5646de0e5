/** Rows of two columns, the left one padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left]) => left!.length))
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`).join('\n')
}
