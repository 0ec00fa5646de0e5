interface SparklineProps {
  readonly points: readonly { readonly x: number; readonly y: number }[]
  readonly label: string
}

/** A small curve of steps. */
export function Sparkline({ points, label }: SparklineProps) {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const [left, right, low, high] = [xs[0] ?? 0, xs.at(-1) ?? 1, least(ys), greatest(ys)]
  const toX = (x: number) => round(((x - left) / (right - left || 1)) * 100)
  const toY = (y: number) => round(high === low ? 50 : 96 - ((y - low) / (high - low)) * 92)
  const path = points.map(({ x, y }, at) => (at === 0 ? `M${toX(x)} ${toY(y)}` : `H${toX(x)}V${toY(y)}`)).join('')
  return (
    <svg class="sparkline" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={points.length === 1 ? `${path}H100` : path} />
    </svg>
  )
}

const round = (value: number): number => Math.round(value * 100) / 100
const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
const greatest = (values: readonly number[]): number =>
  values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
