import { formatNumber, type Measure, ratioToFloor, toFigure } from './measure.ts'

export interface Grid {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/**
 * The measures of one table as cells: a row for each subject, a column for each metric. The first metric also gets a
 * column with its spread, and one with its ratio to the floor.
 */
export function toGrid(measures: readonly Measure[]): Grid {
  const metrics = [...new Set(measures.map(({ metric }) => metric))]
  const subjects = [...new Set(measures.map(({ subject }) => subject))]
  const find = (subject: string, metric: string) =>
    measures.find((measure) => measure.subject === subject && measure.metric === metric)
  const [first] = metrics as [string, ...string[]]
  const hasFloor = measures.some(({ role, metric }) => role === 'floor' && metric === first)
  const columnTitle = (metric: string): string => {
    const { unit } = measures.find((measure) => measure.metric === metric)!
    return unit === '' ? metric : `${metric}, ${unit}`
  }
  const header = ['', columnTitle(first), 'spread', ...(hasFloor ? ['× floor'] : [])]
  for (const metric of metrics.slice(1)) header.push(columnTitle(metric))
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
