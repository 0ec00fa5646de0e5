import type { FetchPlan, LedgerSource } from '@ledger-state/feed'
import { diskTooSmall } from '../errors.js'
import { type Forecast, forecastUnmeasured } from '../sizing/forecast.js'
import { ASSUMED_WRITES_PER_VERSION } from '../sizing/measured.js'
import { freeBytesAt, storeBytesAt } from '../stores/disk-space.js'
import { formatBytes, formatCount, formatCounted, formatDuration } from '../terminal/amounts.js'

/** Bytes of copies of chunks that are fetched and not yet ingested, in addition to the store. */
const COPIES_BYTES = 512 * 2 ** 20

interface Planned {
  readonly plan: FetchPlan
  readonly forecast: Forecast
  /** Bytes by which the store grows, including temporary copies. */
  readonly neededBytes: number
  /** Free bytes in the folder of the store; undefined if no folder is named. */
  readonly freeBytes: number | undefined
}

/** Place into which a window is ingested. */
export interface PlanPlace {
  /** Folder of the store; undefined if there is none. */
  readonly dataDir: string | undefined
  /** Newest version of the store, if it has one. */
  readonly held: bigint | undefined
  readonly retain: bigint | undefined
}

/** Plans the ingest of a window. Undefined for a source without a chosen window. */
export async function planIngest(
  source: LedgerSource,
  { dataDir, held, retain }: PlanPlace,
  measure: boolean,
): Promise<Planned | undefined> {
  const plan = await source.plan?.({ held, measure })
  if (!plan) return undefined
  const versions = Number(plan.lastVersion - plan.firstVersion) + 1
  const kept = retain === undefined ? versions : Math.min(versions, Number(retain))
  const shape = { keys: plan.base?.entries ?? 0, writesPerVersion: ASSUMED_WRITES_PER_VERSION }
  const forecast = forecastUnmeasured(kept, shape, plan.base === undefined)
  // If the store holds the beginning of the window, the rest is added to it. A new store may have begun within the
  // stored part.
  const present = held === undefined && dataDir !== undefined ? storeBytesAt(dataDir) : 0
  const neededBytes = Math.max(0, forecast.diskBytes - present) + Math.min(plan.bytes, COPIES_BYTES)
  return { plan, forecast, neededBytes, freeBytes: dataDir === undefined ? undefined : await freeBytesAt(dataDir) }
}

/**
 * Checks that the disk has room.
 * @throws `disk_too_small`
 */
export function expectSpace({ neededBytes, freeBytes }: Planned, dataDir: string): void {
  if (freeBytes !== undefined && neededBytes > freeBytes) throw diskTooSmall.forIngest(dataDir, neededBytes, freeBytes)
}

/** Text about the costs of a window, a line for each part of it. */
export function planText(source: LedgerSource, { plan, forecast, neededBytes, freeBytes }: Planned): string {
  const { base, firstVersion, lastVersion, objects, bytes, endings, bytesPerSecond } = plan
  const versions = lastVersion < firstVersion ? 0n : lastVersion - firstVersion + 1n
  const state = base ? [`state at version ${base.version}: ${formatCounted(base.entries, 'entry', 'entries')}`] : []
  const transfer =
    bytesPerSecond === undefined
      ? ''
      : `, ${formatDuration(bytes / bytesPerSecond)} at ${formatBytes(Math.round(bytesPerSecond))}/s, measured just now`
  const free = freeBytes === undefined ? '' : `, of ${formatBytes(freeBytes)} that are free`
  return [
    `the ${source.description}`,
    ...state,
    `versions ${firstVersion} to ${lastVersion}: ${formatCount(versions)}`,
    `to fetch: ${formatCounted(objects, 'object')}, ${formatBytes(bytes)}${transfer}`,
    `epoch changes to check signatures: ${formatCount(endings)}, two small objects each`,
    `to prove and write: about ${formatDuration(forecast.backupSeconds)}, as measured in docs/sizing.md`,
    `disk to be filled: about ${formatBytes(neededBytes)}${free}`,
  ].join('\n')
}
