/** Median and spread of the rounds of one measurement. */
export interface Figure {
  readonly median: number
  readonly least: number
  readonly most: number
}

export function toFigure(rounds: readonly number[]): Figure {
  const sorted = [...rounds].sort((a, b) => a - b)
  return { median: sorted[sorted.length >> 1]!, least: sorted[0]!, most: sorted.at(-1)! }
}

/** Rows under a header, the first column to the left, the others to the right. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  for (const row of [header, ...rows]) {
    const cells = row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
    process.stdout.write(`${cells.join('  ')}\n`)
  }
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}
