import type { FetchPlan, LedgerSource } from '@ledger-state/feed'
import { diskTooSmall } from '../errors.js'
import { type Forecast, forecastWindow } from '../sizing/forecast.js'
import { ASSUMED_WRITES_PER_VERSION, MEASURED } from '../sizing/measured.js'
import { formatBytes, formatCount, formatDuration } from '../terminal/amounts.js'
import { freeBytesAt, storeBytesAt } from './disk-space.js'

/** Copies of chunks that are fetched and not ingested yet, beside the store. */
const COPIES_BYTES = 512 * 2 ** 20

interface Planned {
  readonly plan: FetchPlan
  readonly forecast: Forecast
  /** Bytes that the store grows by, with copies meanwhile. */
  readonly neededBytes: number
  /** Bytes that are free in the folder of the store; undefined if no folder is named. */
  readonly freeBytes: number | undefined
}

/** Place into which a window goes. */
export interface PlanPlace {
  /** Folder of the store; undefined where there is none. */
  readonly dataDir: string | undefined
  /** Newest version of the store, where it has one. */
  readonly held: bigint | undefined
  readonly retain: bigint | undefined
}

/** Finds out what a window takes. Undefined for a source of which no window was chosen. */
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
  const forecast = forecastWindow(kept, shape, MEASURED, plan.base === undefined)
  // The rest of a window whose beginning a store holds adds to it; a new store begins in what is there of one.
  const present = held === undefined && dataDir !== undefined ? storeBytesAt(dataDir) : 0
  const neededBytes = Math.max(0, forecast.diskBytes - present) + Math.min(plan.bytes, COPIES_BYTES)
  return { plan, forecast, neededBytes, freeBytes: dataDir === undefined ? undefined : await freeBytesAt(dataDir) }
}

/** @throws `disk_too_small` */
export function expectSpace({ neededBytes, freeBytes }: Planned, dataDir: string): void {
  if (freeBytes !== undefined && neededBytes > freeBytes) throw diskTooSmall(dataDir, neededBytes, freeBytes)
}

/** What a window takes, a line for each part of it. */
export function planText(source: LedgerSource, { plan, forecast, neededBytes, freeBytes }: Planned): string {
  const { base, firstVersion, lastVersion, objects, bytes, endings, bytesPerSecond } = plan
  const versions = lastVersion < firstVersion ? 0n : lastVersion - firstVersion + 1n
  const state = base ? [`state at version ${base.version}: ${formatCount(base.entries)} entries`] : []
  const transfer =
    bytesPerSecond === undefined
      ? ''
      : `, ${formatDuration(bytes / bytesPerSecond)} at ${formatBytes(Math.round(bytesPerSecond))}/s, measured just now`
  const free = freeBytes === undefined ? '' : `, of ${formatBytes(freeBytes)} that are free`
  return [
    `the ${source.description}`,
    ...state,
    `versions ${firstVersion} to ${lastVersion}: ${formatCount(versions)}`,
    `to fetch: ${formatCount(objects)} objects, ${formatBytes(bytes)}${transfer}`,
    `ends of epochs to check signatures: ${formatCount(endings)}, two small objects each`,
    `to prove and write: about ${formatDuration(forecast.backupSeconds)}, as measured in docs/sizing.md`,
    `disk to be filled: about ${formatBytes(neededBytes)}${free}`,
  ].join('\n')
}
