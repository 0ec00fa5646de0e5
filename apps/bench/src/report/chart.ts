import { parse, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'
import { type Measure, toFigure } from './measure.ts'
import type { Theme } from './palette.ts'

/** A plot of measures: a line for each subject, or bars if the x axis has no numbers. */
export interface Chart {
  readonly title: string
  readonly metric: string | readonly string[]
  /** The x axis: the name of a member of `at`, or `metric`, or `subject`. */
  readonly x: string
  /** Values that members of `at` must have. */
  readonly where?: Readonly<Record<string, string | number>>
  readonly logarithmic?: boolean
  /** Description of the plot, in a sentence. */
  readonly caption: string
}

const WIDTH = 640
const HEIGHT = 300

interface Point {
  readonly x: string | number
  readonly subject: string
  readonly median: number
  readonly least: number
  readonly most: number
}

/** The plot as SVG; undefined if the run has fewer than two points for it. */
export async function chartToSvg(
  chart: Chart,
  measures: readonly Measure[],
  theme: Theme,
): Promise<string | undefined> {
  const chosen = measures.filter((measure) => belongs(chart, measure))
  const points = chosen.map((measure): Point => {
    const x = chart.x === 'metric' ? measure.metric : chart.x === 'subject' ? measure.subject : measure.at[chart.x]!
    return { x, subject: measure.subject, ...toFigure(measure.rounds) }
  })
  if (points.length < 2) return undefined
  const isLine = points.every(({ x }) => typeof x === 'number')
  if (isLine && new Set(points.map(({ x }) => x)).size < 2) return undefined
  const spec = isLine ? lineSpec(chart, points, chosen[0]!.unit) : barSpec(chart, points, chosen[0]!.unit)
  const view = new View(parse(compile({ ...spec, config: themeConfig(theme) } as TopLevelSpec).spec), {
    renderer: 'none',
  })
  try {
    return await view.toSVG()
  } finally {
    view.finalize()
  }
}

function belongs({ metric, x, where = {} }: Chart, measure: Measure): boolean {
  const metrics = typeof metric === 'string' ? [metric] : metric
  if (!metrics.includes(measure.metric)) return false
  if (x !== 'metric' && x !== 'subject' && measure.at[x] === undefined) return false
  return Object.entries(where).every(([name, value]) => measure.at[name] === value)
}

function scaleOf(logarithmic: boolean | undefined) {
  return logarithmic ? { type: 'log' as const } : { zero: true }
}

function subjectsOf(points: readonly Point[]): string[] {
  return [...new Set(points.map(({ subject }) => subject))]
}

function lineSpec(chart: Chart, points: readonly Point[], unit: string) {
  const y = { type: 'quantitative', title: unit, scale: scaleOf(chart.logarithmic) }
  const x = {
    field: 'x',
    type: 'quantitative',
    title: chart.x,
    ...(chart.logarithmic
      ? { scale: { type: 'log' }, axis: { values: [...new Set(points.map(({ x }) => x))] } }
      : { scale: { nice: true } }),
  }
  const color = { field: 'subject', type: 'nominal', title: null, sort: subjectsOf(points) }
  return {
    width: WIDTH,
    height: HEIGHT,
    data: { values: points },
    layer: [
      {
        mark: { type: 'rule', opacity: 0.5 },
        encoding: { x, y: { ...y, field: 'least' }, y2: { field: 'most' }, color },
      },
      { mark: { type: 'line' }, encoding: { x, y: { ...y, field: 'median' }, color } },
      {
        mark: { type: 'point', filled: true, size: 50 },
        encoding: { x, y: { ...y, field: 'median' }, color, shape: color },
      },
    ],
  }
}

function barSpec(chart: Chart, points: readonly Point[], unit: string) {
  const x = { field: 'median', type: 'quantitative', title: unit, scale: scaleOf(chart.logarithmic) }
  const isGrouped = chart.x !== 'subject'
  const y = { field: isGrouped ? 'x' : 'subject', type: 'nominal', title: null, sort: null }
  const color = {
    field: 'subject',
    type: 'nominal',
    title: null,
    sort: subjectsOf(points),
    ...(!isGrouped && { legend: null }),
  }
  const yOffset = isGrouped ? { yOffset: { field: 'subject', sort: null } } : {}
  return {
    width: WIDTH,
    height: { step: isGrouped ? 12 : 24 },
    data: { values: points },
    layer: [
      // A bar starts at zero, which a logarithmic axis does not have.
      chart.logarithmic
        ? { mark: { type: 'point', filled: true, size: 70 }, encoding: { x, y, color, ...yOffset } }
        : { mark: 'bar', encoding: { x, y, color, ...yOffset } },
      {
        mark: { type: 'rule', strokeWidth: 2 },
        encoding: { x: { ...x, field: 'least' }, x2: { field: 'most' }, y, ...yOffset },
      },
    ],
  }
}

function themeConfig({ background, text, grid, colours }: Theme) {
  const label = { labelColor: text, titleColor: text, labelFontSize: 12, titleFontSize: 12, labelLimit: 0 }
  return {
    background,
    font: 'system-ui, sans-serif',
    axis: { ...label, gridColor: grid, domainColor: grid, tickColor: grid },
    legend: { ...label, orient: 'bottom', columns: 2 },
    view: { stroke: null },
    rule: { color: text },
    range: { category: [...colours] },
  }
}
