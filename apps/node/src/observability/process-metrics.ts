import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { ProcessLogger } from './logger.js'

/** Percentiles, each with the value of its label. */
const DELAYS: readonly (readonly [word: string, percentile: number])[] = [
  ['median', 50],
  ['p99', 99],
  ['longest', 100],
]
const SAMPLE_INTERVAL_MS = 10

/**
 * Registers the metrics that every process has: memory, processor time, delay of its event loop, lines of its log that
 * nobody read.
 */
export function registerProcessMetrics(
  registry: Registry,
  processName: string,
  log: Pick<ProcessLogger, 'droppedLines'>,
): void {
  const labels = { process: processName }
  const registers = [registry]
  new Gauge({
    name: 'ledger_state_process_resident_memory_bytes',
    help: 'Memory of a process, with the pages of store files that it has read.',
    labelNames: ['process'],
    registers,
    collect() {
      const bytes = residentBytes()
      if (bytes !== undefined) this.set(labels, bytes)
    },
  })
  new Counter({
    name: 'ledger_state_process_cpu_seconds_total',
    help: 'CPU time of a process.',
    labelNames: ['process'],
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc(labels, (user + system) / 1e6)
    },
  })
  new Counter({
    name: 'ledger_state_log_dropped_lines_total',
    help: 'Log lines of a process that were dropped, because nobody read the earlier lines.',
    labelNames: ['process'],
    registers,
    collect() {
      this.reset()
      this.inc(labels, log.droppedLines())
    },
  })
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL_MS })
  delays.enable()
  new Gauge({
    name: 'ledger_state_event_loop_delay_seconds',
    help: 'Delay of the event loop of a process since its last report: the median, the 99th percentile, the longest.',
    labelNames: ['process', 'delay'],
    registers,
    collect() {
      for (const [delay, percentile] of DELAYS) {
        // The monitor measures the time between two samples, which includes its interval.
        const milliseconds = delays.percentile(percentile) / 1e6 - SAMPLE_INTERVAL_MS
        this.set({ ...labels, delay }, Math.max(0, milliseconds) / 1_000)
      }
      delays.reset()
    },
  })
}

/** Resident memory; undefined if the process has no descriptor left to read it with. */
function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EMFILE' || code === 'ENFILE') return undefined
    throw error
  }
}
