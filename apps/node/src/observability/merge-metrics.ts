import { AggregatorRegistry } from 'prom-client'

/** A metric as `Registry.getMetricsAsJSON` returns it. Only prom-client reads its values. */
export interface MetricSnapshot {
  readonly name: string
  readonly type: string
}

/** Metrics of several processes in one text, in the format of Prometheus. */
export async function mergedMetricsText(snapshots: readonly (readonly MetricSnapshot[])[]): Promise<string> {
  return await AggregatorRegistry.aggregate([...snapshots]).metrics()
}

/**
 * Adds the counters and histograms of an ended process to the totals of earlier ended processes, so that sums over all
 * processes never decrease.
 */
export async function retireMetrics(
  retired: readonly MetricSnapshot[],
  last: readonly MetricSnapshot[],
): Promise<readonly MetricSnapshot[]> {
  const counted = last.filter(({ type }) => type === 'counter' || type === 'histogram')
  const merged: unknown = await AggregatorRegistry.aggregate([retired, counted] as object[]).getMetricsAsJSON()
  return merged as MetricSnapshot[]
}
