import { once } from 'node:events'
import { isLedgerStateError, type LedgerInfo } from '@ledger-state/core'
import type { Registry } from 'prom-client'
import type { MetricSnapshot } from '../observability/merge-metrics.js'
import { type ProcessMessage, REPORT_INTERVAL_MS } from './messages.js'

/**
 * This process as one that is supervised: aborted when it is to stop, or when nobody is there to tell it. Signals of a
 * terminal go to all processes; when to stop is then the supervisor's to say.
 */
export function stopOrder(): AbortSignal {
  const controller = new AbortController()
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => controller.abort())
  process.on('disconnect', () => controller.abort())
  return controller.signal
}

export async function aborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort')
  return undefined
}

export function tellSupervisor(message: ProcessMessage): void {
  // A supervisor that is gone is told of by `disconnect`.
  if (process.connected) process.send?.(message, () => {})
}

/** Reports now and then until it is stopped by the function that it answers with. */
export function startReports(registry: Registry, ledger: () => LedgerInfo | undefined): () => void {
  const report = async (): Promise<void> => {
    const metrics = (await registry.getMetricsAsJSON()) as unknown as MetricSnapshot[]
    tellSupervisor({ type: 'report', ledger: ledger(), metrics })
  }
  const guarded = () => void report().catch(failProcess)
  guarded()
  const timer = setInterval(guarded, REPORT_INTERVAL_MS)
  return () => clearInterval(timer)
}

/** Ends this process, saying why. */
export function failProcess(error: unknown): void {
  const isOurs = isLedgerStateError(error)
  const message = isOurs ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)
  tellSupervisor({ type: 'failed', code: isOurs ? error.code : undefined, message })
  process.exitCode = 1
  // What was told goes out first.
  setImmediate(() => process.exit())
}
