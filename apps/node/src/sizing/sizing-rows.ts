import { formatBytes, formatCount } from '../terminal/amounts.js'
import { type Forecast, forecastUnmeasured, forecastWindow, type LedgerShape } from './forecast.js'
import type { MeasuredSizes } from './measured.js'

export const FORECAST_HEADINGS = ['window', 'disk', 'memory', 'from a backup', 'from a node'] as const
const FORECAST_WINDOWS: readonly number[] = [1e6, 50e6, 500e6]

export interface SizedWindow extends Forecast {
  readonly versions: number
}

/** Forecasts for the usual windows of a store that was measured. */
export function forecastWindows(shape: LedgerShape, measured: MeasuredSizes): SizedWindow[] {
  return FORECAST_WINDOWS.map((versions) => ({ versions, ...forecastWindow(versions, shape, measured) }))
}

/** Forecasts for the usual windows of a ledger that was not measured, and for all of its versions since genesis. */
export function forecastLedger(shape: LedgerShape, all: number): SizedWindow[] {
  const usual = FORECAST_WINDOWS.filter((versions) => versions < all)
  const sized = usual.map((versions) => ({ versions, ...forecastUnmeasured(versions, shape) }))
  return [...sized, { versions: all, ...forecastUnmeasured(all, shape, true) }]
}

export function forecastRow({ versions, diskBytes, memoryBytes, backupSeconds, nodeSeconds }: SizedWindow): string[] {
  return [
    formatCount(versions),
    formatBytes(diskBytes),
    formatBytes(memoryBytes),
    formatLongTime(backupSeconds),
    formatLongTime(nodeSeconds),
  ]
}

/** Formats times from minutes to years. */
function formatLongTime(seconds: number): string {
  const units: [seconds: number, name: string][] = [
    [86_400, 'days'],
    [3_600, 'h'],
    [60, 'min'],
  ]
  const [length, name] = units.find(([unit]) => seconds >= 2 * unit) ?? [1, 's']
  return `${formatCount(Math.ceil(seconds / length))} ${name}`
}
