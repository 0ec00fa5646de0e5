import { toGrid } from './grid.ts'
import { byTitle, type Measure } from './measure.ts'

/** Rows under a header: the first column is aligned to the left, the others to the right. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  return [header, ...rows]
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  '))
    .join('\n')
}

/** Text of all tables of a run, for a terminal. */
export function measuresToText(measures: readonly Measure[]): string {
  return [...byTitle(measures)]
    .map(([title, table]) => {
      const { header, rows } = toGrid(table)
      return `${title}\n${textTable(header, rows)}\n`
    })
    .join('\n')
}
