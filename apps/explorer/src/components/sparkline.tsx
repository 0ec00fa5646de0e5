interface SparklineProps {
  /** Points of the curve. A height is null, a gap of the curve, if it is not known until the next point. */
  readonly points: readonly { readonly x: number; readonly y: number | null }[]
  readonly label: string
}

/** A small curve of steps. */
export function Sparkline({ points, label }: SparklineProps) {
  return (
    <svg class="sparkline" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={stepsToPath(points)} />
    </svg>
  )
}

/**
 * The points as a path in a square of 100. A segment is as long as the value stays the same, since joints within a line
 * would look thicker.
 */
export function stepsToPath(points: SparklineProps['points']): string {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const known = ys.filter((y) => y !== null)
  const [left, right, low, high] = [xs[0] ?? 0, xs.at(-1) ?? 1, least(known), greatest(known)]
  const toX = (x: number) => round(((x - left) / (right - left || 1)) * 100)
  const toY = (y: number) => round(high === low ? 50 : 96 - ((y - low) / (high - low)) * 92)
  const heights = ys.map((y) => (y === null ? null : toY(y)))
  const steps = points.map(({ x }, at) => {
    const [before, after] = [heights[at - 1], heights[at]!]
    if (at > 0 && before === after) return ''
    if (after === null) return at === 0 ? '' : `H${toX(x)}`
    return typeof before === 'number' ? `H${toX(x)}V${after}` : `M${toX(x)} ${after}`
  })
  const last = heights.at(-1)
  const isFlatAtEnd = typeof last === 'number' && (points.length === 1 || last === heights.at(-2))
  return `${steps.join('')}${isFlatAtEnd ? 'H100' : ''}`
}

const round = (value: number): number => Math.round(value * 100) / 100
const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
const greatest = (values: readonly number[]): number =>
  values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
