import { useEffect, useMemo, useRef } from 'preact/hooks'
import './language.ts'
import uPlot from 'uplot'
import { groupDigits } from '../state/amount.ts'
import { timeTickText } from '../state/axis.ts'
import { countText } from '../state/count-text.ts'
import 'uplot/dist/uPlot.min.css'

export interface CurvePoint {
  /** Time in seconds since 1970, or a version. */
  readonly x: number
  /** Value; null, a gap of the curve, if it is not known until the next point. */
  readonly y: number | null
}

interface CurveProps {
  readonly points: readonly CurvePoint[]
  /** Place up to which the value of the last point holds; by default the place of the last point. */
  readonly end?: number | undefined
  readonly isTime: boolean
  readonly label: string
  /** Number of changes that the points show. */
  readonly changes: number
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
/**
 * Least pixels between two labels of an axis, so that they do not touch: of days such as 2025-01-01, and of versions.
 */
const TIME_SPACE = 84
const VERSION_SPACE = 104
/** Length in pixels below which a drag counts as a click. */
const SHORT_DRAG = 8

/** Properties that may change while a curve is drawn. */
interface Heard extends Pick<CurveProps, 'onChoose' | 'onZoom' | 'chosen'> {
  /** Number of points, without the end of the curve. */
  readonly count: number
}

/** A value over versions or time, as steps. Dragging over a part zooms into it. */
export function Curve({ points, end, isTime, label, changes, chosen, onChoose, onZoom }: CurveProps) {
  const place = useRef<HTMLDivElement>(null)
  const heard = useRef<Heard>({ onChoose, onZoom, chosen, count: points.length })
  heard.current = { onChoose, onZoom, chosen, count: points.length }
  const drawn = useRef<uPlot | undefined>(undefined)
  const data = useRef<uPlot.AlignedData>([[], []])
  const last = points.at(-1)
  const drawnEnd = last && end !== undefined && end > last.x ? end : undefined
  data.current = useMemo(() => {
    const drawn = last && drawnEnd !== undefined ? [...points, { x: drawnEnd, y: last.y }] : points
    return [drawn.map(({ x }) => x), drawn.map(({ y }) => y)]
  }, [points, drawnEnd])
  useEffect(() => drawn.current?.redraw(false), [chosen])
  useEffect(() => drawn.current?.setData(data.current), [points, drawnEnd])
  useEffect(() => {
    const element = place.current!
    const plot = drawCurve(element, data.current, { isTime, label, heard })
    drawn.current = plot
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      drawn.current = undefined
      plot.destroy()
    }
  }, [isTime, label])
  return <div class="curve" ref={place} role="img" aria-label={`${label}: ${countText(changes, 'change')}`} />
}

interface DrawingOptions extends Pick<CurveProps, 'isTime' | 'label'> {
  readonly heard: { readonly current: Heard }
}

/** Draws a curve into an element. A click chooses a point; a drag zooms. */
function drawCurve(element: HTMLElement, data: uPlot.AlignedData, { isTime, label, heard }: DrawingOptions): uPlot {
  const color = (name: string) => getComputedStyle(element).getPropertyValue(name)
  // The click that ends a drag does not choose a point.
  let wasDragged = false
  const zoom = (plot: uPlot): void => {
    const range = takeSelection(plot)
    if (!range) return
    wasDragged = true
    const last = Math.min(range.last, heard.current.count - 1)
    if (last > range.first) heard.current.onZoom(range.first, last)
  }
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      padding: [16, 32, 0, 0],
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
      // The axis begins and ends where the data do.
      scales: { x: { time: isTime, range: (_, first, last) => [first, last > first ? last : first + 1] } },
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 9 } },
      hooks: {
        draw: [(plot: uPlot) => drawChosen(plot, heard.current.chosen, color('--accent'))],
        setSelect: [zoom],
      },
      axes: axesOf(isTime, color),
      series: [{}, seriesOf(label, heard, color)],
    },
    data,
    element,
  )
  plot.over.addEventListener('click', () => {
    const { idx } = plot.cursor
    if (!wasDragged && idx !== null && idx !== undefined) heard.current.onChoose(Math.min(idx, heard.current.count - 1))
    wasDragged = false
  })
  return plot
}

/** The points over which the visitor dragged, and removes the selection. Undefined after a short drag. */
function takeSelection(plot: uPlot): { readonly first: number; readonly last: number } | undefined {
  const { select, posToIdx } = plot
  if (select.width < SHORT_DRAG) return undefined
  const range = { first: posToIdx(select.left), last: posToIdx(select.left + select.width) }
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  return range
}

function axesOf(isTime: boolean, color: (name: string) => string): uPlot.Axis[] {
  const axis: uPlot.Axis = {
    font: '12px system-ui, sans-serif',
    stroke: color('--text-soft'),
    grid: { stroke: color('--line'), width: 1 },
  }
  return [
    { ...axis, space: isTime ? TIME_SPACE : VERSION_SPACE, values: isTime ? formatTimes : formatVersions },
    { ...axis, size: axisSize, values: (_, values) => values.map(formatTick) },
  ]
}

function seriesOf(label: string, heard: DrawingOptions['heard'], color: (name: string) => string): uPlot.Series {
  return {
    label,
    stroke: color('--accent'),
    fill: color('--accent-soft'),
    width: 2,
    paths: uPlot.paths.stepped!({ align: 1 }),
    points: {
      show: ({ data }) => data[0].length < FEW_POINTS,
      // The end of the curve is no change.
      filter: ({ data }) =>
        data[0].length < FEW_POINTS ? Array.from({ length: heard.current.count }, (_, at) => at) : [],
    },
  }
}

function formatVersions(_: uPlot, versions: readonly number[]): string[] {
  return versions.map((one) => groupDigits(String(one)))
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
