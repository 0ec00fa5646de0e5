import { AggregatorRegistry } from 'prom-client'

/** A metric as `Registry.getMetricsAsJSON` has it; what its values are is between two copies of prom-client. */
export interface MetricSnapshot {
  readonly name: string
  readonly type: string
}

/** Metrics of many processes as one, in the text format of Prometheus. */
export async function mergedMetricsText(snapshots: readonly (readonly MetricSnapshot[])[]): Promise<string> {
  return await AggregatorRegistry.aggregate([...snapshots]).metrics()
}

/**
 * Counters and histograms of processes that are gone, summed up: what they counted stays counted, so that sums over all
 * processes never go back.
 */
export async function retireMetrics(
  retired: readonly MetricSnapshot[],
  last: readonly MetricSnapshot[],
): Promise<readonly MetricSnapshot[]> {
  const counted = last.filter(({ type }) => type === 'counter' || type === 'histogram')
  const merged: unknown = await AggregatorRegistry.aggregate([retired, counted] as object[]).getMetricsAsJSON()
  return merged as MetricSnapshot[]
}
