/** Formats rows of two columns, the left one padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left]) => left!.length))
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`).join('\n')
}

/** Formats rows of equally many columns, all but the last padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows.map((row) => `  ${row.map((text, at) => text.padEnd(widths[at]!)).join('  ')}`.trimEnd()).join('\n')
}
