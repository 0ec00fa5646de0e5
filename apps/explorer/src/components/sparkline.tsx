interface SparklineProps {
  readonly points: readonly { readonly x: number; readonly y: number }[]
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

/** In a square of 100. A segment where the value stands still ends only with it: joints on a line would be drawn thicker. */
export function stepsToPath(points: SparklineProps['points']): string {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const [left, right, low, high] = [xs[0] ?? 0, xs.at(-1) ?? 1, least(ys), greatest(ys)]
  const toX = (x: number) => round(((x - left) / (right - left || 1)) * 100)
  const toY = (y: number) => round(high === low ? 50 : 96 - ((y - low) / (high - low)) * 92)
  const heights = ys.map(toY)
  const steps = points.map(({ x }, at) =>
    at > 0 && heights[at] !== heights[at - 1] ? `H${toX(x)}V${heights[at]}` : '',
  )
  const isFlatAtEnd = points.length === 1 || heights.at(-1) === heights.at(-2)
  return `M0 ${heights[0]}${steps.join('')}${isFlatAtEnd ? 'H100' : ''}`
}

const round = (value: number): number => Math.round(value * 100) / 100
const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
const greatest = (values: readonly number[]): number =>
  values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
