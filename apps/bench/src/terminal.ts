import { byTitle, formatNumber, type Measure, ratioToFloor, toFigure } from './measure.js'

/** Rows under a header, the first column to the left, the others to the right. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  return [header, ...rows]
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  '))
    .join('\n')
}

/** The tables of a run: a row for each subject, a column for each metric; spread and ratio of the first. */
export function measuresToText(measures: readonly Measure[]): string {
  return [...byTitle(measures)].map(([title, rows]) => `${title}\n${tableOf(rows)}\n`).join('\n')
}

function tableOf(measures: readonly Measure[]): string {
  const { header, rows } = toGrid(measures)
  return table(header, rows)
}

export function toGrid(measures: readonly Measure[]): { header: string[]; rows: string[][] } {
  const metrics = [...new Set(measures.map(({ metric }) => metric))]
  const subjects = [...new Set(measures.map(({ subject }) => subject))]
  const find = (subject: string, metric: string) =>
    measures.find((measure) => measure.subject === subject && measure.metric === metric)
  const [first] = metrics as [string, ...string[]]
  const hasFloor = measures.some(({ role, metric }) => role === 'floor' && metric === first)
  const unitOf = (metric: string) => measures.find((measure) => measure.metric === metric)!.unit
  const header = ['', `${first}, ${unitOf(first)}`, 'spread', ...(hasFloor ? ['× floor'] : [])]
  for (const metric of metrics.slice(1)) header.push(`${metric}, ${unitOf(metric)}`)
  const rows = subjects.map((subject) => {
    const main = find(subject, first)
    const figure = main && toFigure(main.rounds)
    const spread = main && main.rounds.length > 1 ? `${formatNumber(figure!.least)}–${formatNumber(figure!.most)}` : ''
    const row = [subject, figure ? formatNumber(figure.median) : '', spread]
    if (hasFloor) row.push(main ? (ratioToFloor(main, measures)?.toFixed(2) ?? '') : '')
    for (const metric of metrics.slice(1)) {
      const measure = find(subject, metric)
      row.push(measure ? formatNumber(toFigure(measure.rounds).median) : '')
    }
    return row
  })
  return { header, rows }
}
