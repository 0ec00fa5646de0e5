/** Metrics that the operators' page draws, each summed over all labels. */
const DRAWN = [
  'ledger_state_latest_version',
  'ledger_state_lag_seconds',
  'ledger_state_oldest_version',
  'ledger_state_store_file_bytes',
  'ledger_state_store_reclaimable_bytes',
  'ledger_state_store_payload_bytes',
  'ledger_state_store_history_entries',
  'ledger_state_pruned_entries_total',
  'ledger_state_committed_versions_total',
  'ledger_state_process_resident_memory_bytes',
  'ledger_state_process_cpu_seconds_total',
  'ledger_state_http_request_duration_seconds_count',
  'ledger_state_http_request_duration_seconds_sum',
  'ledger_state_cache_bytes',
  'ledger_state_cache_capacity_bytes',
  'ledger_state_cache_misses_total',
] as const

/** Interval of samples; the history has an hour of them. */
export const SAMPLE_INTERVAL_MS = 10_000
const MOST_SAMPLES = 360

interface Sample {
  /** Time in milliseconds since 1970. */
  readonly time: number
  readonly values: Readonly<Record<string, number>>
}

/** Metrics of a node during the last hour, in memory. */
export class MetricsHistory {
  readonly #samples: Sample[] = []

  get samples(): readonly Sample[] {
    return this.#samples
  }

  /**
   * Adds a sample.
   * @param text text of all metrics, in the format of Prometheus
   */
  add(text: string, time: number): void {
    const values: Record<string, number> = {}
    for (const [, name, value] of text.matchAll(/^([a-z_]+)(?:\{[^\n]*\})? ([^ \n]+)$/gm)) {
      if (DRAWN.some((one) => one === name)) values[name!] = (values[name!] ?? 0) + Number(value)
    }
    this.#samples.push({ time, values })
    if (this.#samples.length > MOST_SAMPLES) this.#samples.shift()
  }
}
