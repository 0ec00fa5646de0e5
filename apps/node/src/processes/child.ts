import { once } from 'node:events'
import { isLedgerStateError } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import type { Registry } from 'prom-client'
import type { MetricSnapshot } from '../observability/merge-metrics.js'
import { type ProcessMessage, REPORT_INTERVAL_MS, SETTINGS_VARIABLE } from './messages.js'

/** Option of newer versions of Node.js: the process blocks SIGUSR1. */
const NO_DEBUGGER = '--disable-sigusr1'

/** Node.js options for a child of this process: the options of this process, and SIGUSR1 opens no debugger. */
export function childArguments(more: readonly string[] = []): string[] {
  const isKnown = process.allowedNodeEnvironmentFlags.has(NO_DEBUGGER)
  return [...process.execArgv, ...(isKnown ? [NO_DEBUGGER] : []), ...more]
}

/** Keeps this process from ending when nobody reads its output, and SIGUSR1 from opening a debugger or ending it. */
export function withstandSignalsAndOutputs(): void {
  process.on('SIGUSR1', () => {})
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/**
 * Signal that is aborted when the supervisor orders this process to stop, or has ended. SIGINT is ignored: a terminal
 * sends it to all processes, and the supervisor decides when each stops. If the supervisor ends after its order, so does
 * this process, at once.
 */
export function stopOrder(): AbortSignal {
  withstandSignalsAndOutputs()
  const controller = new AbortController()
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => controller.abort())
  // The supervisor has ended. If it had ordered the stop, it got a second signal: everything ends at once.
  process.on('disconnect', () => {
    if (controller.signal.aborted) process.exit()
    controller.abort()
  })
  return controller.signal
}

/** The settings that the supervisor gave to this process. */
export function processSettings<Settings>(): Settings {
  return JSON.parse(process.env[SETTINGS_VARIABLE]!)
}

export async function aborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort')
  return undefined
}

export function tellSupervisor(message: ProcessMessage): void {
  // `disconnect` follows if the supervisor has ended.
  if (process.connected) process.send?.(message, () => {})
}

/** Reports in a row that a store may fail: a disk may fail once, and the end of a process ends its connections. */
const MOST_FAILED_REPORTS = 2

/**
 * Reports at once and then at intervals, until the returned function is called. The process ends if the store must be opened
 * again, or if it cannot be read for some reports in a row.
 */
export function startReports(
  registry: Registry,
  ledger: () => LedgerSummary | undefined,
  storeFault = (): string | undefined => undefined,
): () => void {
  const report = async (): Promise<void> => {
    const metrics = (await registry.getMetricsAsJSON()) as unknown as MetricSnapshot[]
    tellSupervisor({ type: 'report', ledger: ledger(), storeFault: storeFault(), metrics })
  }
  let failed = 0
  const guarded = () =>
    void report().then(
      () => {
        failed = 0
      },
      (error: unknown) => {
        if (!isLedgerStateError(error, 'store_failed') || ++failed > MOST_FAILED_REPORTS) failProcess(error)
      },
    )
  guarded()
  const timer = setInterval(guarded, REPORT_INTERVAL_MS)
  return () => clearInterval(timer)
}

/** Reports the reason to the supervisor, and ends this process. */
export function failProcess(error: unknown): void {
  const isOurs = isLedgerStateError(error)
  const message = isOurs ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)
  tellSupervisor({ type: 'failed', code: isOurs ? error.code : undefined, message })
  process.exitCode = 1
  // Exits after the message is sent.
  setImmediate(() => process.exit())
}
