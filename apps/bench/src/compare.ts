import { formatNumber, type Measure, toFigure } from './measure.js'
import type { BenchResult } from './result-file.js'
import { table } from './terminal.js'

/** What changed between two runs: each figure that both have, and how many times as good it became. */
export function comparisonToText(before: BenchResult, after: BenchResult): string {
  const keyOf = ({ suite, title, subject, metric }: Measure) => [suite, title, subject, metric].join('\n')
  const old = new Map(before.measures.map((measure) => [keyOf(measure), measure]))
  const rows: string[][] = []
  for (const measure of after.measures) {
    const other = old.get(keyOf(measure))
    if (!other || measure.better === 'neither') continue
    const [was, is] = [toFigure(other.rounds), toFigure(measure.rounds)]
    const ratio = measure.better === 'lower' ? was.median / is.median : is.median / was.median
    // Beyond what the rounds of either differ among themselves.
    const isApart = is.least > was.most || is.most < was.least
    const name = `${measure.suite}: ${measure.title}, ${measure.subject}, ${measure.metric}`
    const verdict = isApart ? (ratio > 1 ? 'better' : 'worse') : ''
    rows.push([
      name,
      formatNumber(was.median, measure.unit),
      formatNumber(is.median, measure.unit),
      ratio.toFixed(2),
      verdict,
    ])
  }
  const head = `beside ${before.machine.commit} of ${before.startedAt} (scale ${before.scale}, load ${before.machine.loadBefore.toFixed(1)})`
  const differs = before.machine.processor !== after.machine.processor || before.scale !== after.scale
  const warning = differs ? 'another machine or scale: the figures are not to be compared\n' : ''
  return `${head}\n${warning}${table(['', 'was', 'is', '× as good', ''], rows)}\n`
}
