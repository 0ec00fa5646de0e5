/**
 * Role of a row of a table: `ours`; the `floor`, the least that the question can cost; a `peer`, another way to answer
 * it; a `limit` that no contender can reach.
 */
export type Role = 'ours' | 'floor' | 'peer' | 'limit'

/** One figure of a run, with every round of it. */
export interface Measure {
  readonly suite: string
  /** Heading of the table. */
  readonly title: string
  /** Name of the row. */
  readonly subject: string
  readonly role: Role
  /** Name of the column. */
  readonly metric: string
  readonly unit: string
  readonly better: 'lower' | 'higher' | 'neither'
  readonly rounds: readonly number[]
  /** Parameters of the figure, such as the number of keys: the axes of plots. */
  readonly at: Readonly<Record<string, string | number>>
  /** Whether it is a point of a series, which is plotted and is in no table. */
  readonly plotOnly?: boolean
}

/** Median and spread of the rounds. */
export interface Figure {
  readonly median: number
  readonly least: number
  readonly most: number
}

export function toFigure(rounds: readonly number[]): Figure {
  const sorted = [...rounds].sort((a, b) => a - b)
  return { median: sorted[sorted.length >> 1]!, least: sorted[0]!, most: sorted.at(-1)! }
}

/** A number with three significant digits, separators between thousands, and the unit. */
export function formatNumber(value: number, unit = ''): string {
  const magnitude = Math.abs(value)
  const digits = magnitude === 0 || magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3
  const text = value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits })
  return unit === '' ? text : `${text} ${unit}`
}

/** Measures grouped by table (`SUITE: TITLE`), in the order of their records. */
export function byTitle(measures: readonly Measure[]): Map<string, Measure[]> {
  const titles = new Map<string, Measure[]>()
  for (const measure of measures) {
    if (measure.plotOnly) continue
    const key = `${measure.suite}: ${measure.title}`
    const others = titles.get(key)
    if (others) others.push(measure)
    else titles.set(key, [measure])
  }
  return titles
}

/**
 * How many times as good a figure is as the floor of its table; undefined if the floor has no such metric. If both have
 * the same number of rounds, they took turns, and this is the median of the ratios within each round: whatever else the
 * machine did then hit both alike.
 */
export function ratioToFloor(measure: Measure, table: readonly Measure[]): number | undefined {
  const floor = table.find(({ role, metric }) => role === 'floor' && metric === measure.metric)
  if (!floor || measure.better === 'neither') return undefined
  const goodness = (one: number, other: number) => (measure.better === 'lower' ? other / one : one / other)
  if (measure.rounds.length !== floor.rounds.length) {
    return goodness(toFigure(measure.rounds).median, toFigure(floor.rounds).median)
  }
  return toFigure(measure.rounds.map((one, round) => goodness(one, floor.rounds[round]!))).median
}
