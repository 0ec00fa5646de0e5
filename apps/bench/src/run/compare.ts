import { formatNumber, type Measure, toFigure } from '../report/measure.ts'
import { textTable } from '../report/text-table.ts'
import type { BenchResult } from './result-file.ts'

/** Text about the changes between two runs: each figure that both have, and how many times as good it is now. */
export function comparisonToText(before: BenchResult, after: BenchResult): string {
  const keyOf = ({ suite, title, subject, metric }: Measure) => [suite, title, subject, metric].join('\n')
  const old = new Map(before.measures.map((measure) => [keyOf(measure), measure]))
  const rows: string[][] = []
  for (const measure of after.measures) {
    const other = old.get(keyOf(measure))
    if (!other || measure.better === 'neither') continue
    const [was, is] = [toFigure(other.rounds), toFigure(measure.rounds)]
    const ratio = measure.better === 'lower' ? was.median / is.median : is.median / was.median
    // There is a verdict only if the spreads of the two do not overlap.
    const isApart = is.least > was.most || is.most < was.least
    rows.push([
      `${measure.suite}: ${measure.title}, ${measure.subject}, ${measure.metric}`,
      formatNumber(was.median, measure.unit),
      formatNumber(is.median, measure.unit),
      ratio.toFixed(2),
      isApart ? (ratio > 1 ? 'better' : 'worse') : '',
    ])
  }
  const { machine, startedAt, scale } = before
  const head = `compared with ${machine.commit} of ${startedAt} (scale ${scale}, load ${machine.loadBefore.toFixed(1)})`
  const differs = machine.processor !== after.machine.processor || scale !== after.scale
  const warning = differs ? 'the other run is of another machine or scale: the figures cannot be compared\n' : ''
  return `${head}\n${warning}${textTable(['', 'before', 'now', '× as good', ''], rows)}\n`
}
