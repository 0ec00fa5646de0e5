import { useEffect, useMemo, useRef } from 'preact/hooks'
import './language.ts'
import uPlot from 'uplot'
import { timeTickText } from '../state/axis.ts'
import 'uplot/dist/uPlot.min.css'

export interface CurvePoint {
  /** Time in seconds since 1970, or a version. */
  readonly x: number
  /** Value; null, a gap of the curve, if it is not known until the next point. */
  readonly y: number | null
}

interface CurveProps {
  readonly points: readonly CurvePoint[]
  readonly isTime: boolean
  readonly label: string
  /** Index of the marked point. */
  readonly chosen: number | undefined
  /** Called with the index of a point that the visitor chose. */
  readonly onChoose: (at: number) => void
  /** Called with the indexes of the first and the last point of a range over which the visitor dragged. */
  readonly onZoom: (first: number, last: number) => void
}

const HEIGHT = 288
/** A curve with fewer points than this marks each of them. */
const FEW_POINTS = 100
/** Length in pixels below which a drag counts as a click. */
const SHORT_DRAG = 8

/** A value over versions or time, as steps. Dragging over a part zooms into it. */
export function Curve({ points, isTime, label, chosen, onChoose, onZoom }: CurveProps) {
  const place = useRef<HTMLDivElement>(null)
  const heard = useRef({ onChoose, onZoom, chosen })
  heard.current = { onChoose, onZoom, chosen }
  const drawn = useRef<uPlot | undefined>(undefined)
  const data = useRef<uPlot.AlignedData>([[], []])
  data.current = useMemo(() => [points.map(({ x }) => x), points.map(({ y }) => y)], [points])
  useEffect(() => drawn.current?.redraw(false), [chosen])
  useEffect(() => drawn.current?.setData(data.current), [points])
  useEffect(() => {
    const element = place.current!
    const color = (name: string) => getComputedStyle(element).getPropertyValue(name)
    const axis: uPlot.Axis = {
      font: '12px system-ui, sans-serif',
      stroke: color('--text-soft'),
      grid: { stroke: color('--line'), width: 1 },
    }
    // The click that ends a drag does not choose a point.
    let wasDragged = false
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        padding: [16, 32, 0, 0],
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
        scales: { x: { time: isTime } },
        legend: { show: false },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 9 } },
        hooks: {
          draw: [(plot: uPlot) => drawChosen(plot, heard.current.chosen, color('--accent'))],
          setSelect: [
            (plot: uPlot) => {
              const { select, posToIdx } = plot
              if (select.width < SHORT_DRAG) return
              const [first, last] = [posToIdx(select.left), posToIdx(select.left + select.width)]
              plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
              wasDragged = true
              if (last > first) heard.current.onZoom(first, last)
            },
          ],
        },
        axes: [
          { ...axis, ...(isTime && { values: formatTimes }) },
          { ...axis, size: axisSize, values: (_, values) => values.map(formatTick) },
        ],
        series: [
          {},
          {
            label,
            stroke: color('--accent'),
            fill: color('--accent-soft'),
            width: 2,
            paths: uPlot.paths.stepped!({ align: 1 }),
            points: { show: ({ data }) => data[0].length < FEW_POINTS },
          },
        ],
      },
      data.current,
      element,
    )
    drawn.current = plot
    const choose = (): void => {
      const { idx } = plot.cursor
      if (!wasDragged && idx !== null && idx !== undefined) heard.current.onChoose(idx)
      wasDragged = false
    }
    plot.over.addEventListener('click', choose)
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      drawn.current = undefined
      plot.destroy()
    }
  }, [isTime, label])
  return <div class="curve" ref={place} role="img" aria-label={`${label}: ${points.length} changes`} />
}

/** A short number; the list next to the curve has every digit. */
function formatTick(value: number): string {
  return Math.abs(value) >= 1e6
    ? value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 3 })
    : String(value)
}

function axisSize(_: uPlot, values: readonly string[] | null): number {
  return 24 + 7 * Math.max(3, ...(values ?? []).map(({ length }) => length))
}

/** Formats times in UTC, as everywhere on the page. */
function formatTimes(_: uPlot, seconds: readonly number[], __: number, ___: number, step: number): string[] {
  return seconds.map((one) => timeTickText(BigInt(Math.round(one * 1e6)), step))
}

function drawChosen({ ctx, data, valToPos }: uPlot, chosen: number | undefined, color: string): void {
  const [x, y] = chosen === undefined ? [] : [data[0][chosen], data[1]?.[chosen]]
  if (typeof x !== 'number' || typeof y !== 'number') return
  ctx.beginPath()
  ctx.arc(valToPos(x, 'x', true), valToPos(y, 'y', true), 5 * devicePixelRatio, 0, 2 * Math.PI)
  ctx.fillStyle = color
  ctx.fill()
}
