import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface CurvePoint {
  /** Seconds since 1970, or a version. */
  readonly x: number
  readonly y: number
}

interface CurveProps {
  readonly points: readonly CurvePoint[]
  readonly isTime: boolean
  readonly label: string
  /** Called with the place of the point that somebody chose. */
  readonly onChoose: (at: number) => void
}

const HEIGHT = 260

/** A value over versions or time, as steps; drag to zoom, double-click to see all. */
export function Curve({ points, isTime, label, onChoose }: CurveProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current!
    const color = (name: string) => getComputedStyle(element).getPropertyValue(name)
    const axis: uPlot.Axis = { stroke: color('--text-soft'), grid: { stroke: color('--line'), width: 1 } }
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        scales: { x: { time: isTime } },
        legend: { show: false },
        axes: [axis, { ...axis, size: 90 }],
        series: [
          {},
          {
            label,
            stroke: color('--accent'),
            fill: color('--accent-soft'),
            width: 2,
            paths: uPlot.paths.stepped!({ align: 1 }),
            points: { show: points.length < 100 },
          },
        ],
      },
      [points.map(({ x }) => x), points.map(({ y }) => y)],
      element,
    )
    const choose = (): void => {
      const { idx } = plot.cursor
      if (idx !== null && idx !== undefined) onChoose(idx)
    }
    plot.over.addEventListener('click', choose)
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      plot.destroy()
    }
  }, [points, isTime, label])
  return <div class="curve" ref={place} role="img" aria-label={`${label}: ${points.length} changes`} />
}
