import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AtFailurePoint } from '../write/failure-points.js'

/** An upgrade does one after the other. */
export type UpgradeStep = 'pages' | 'state' | 'versions' | 'check' | 'comparison'

/** How far an upgrade is. */
export interface UpgradeProgress {
  readonly step: UpgradeStep
  /** Pages of the old store, keys of its oldest state, writes of the versions after it, records of the check of the copy, keys of the comparison. */
  readonly done: number
  /** Undefined for the two checks. */
  readonly total: number | undefined
}

/** What the steps of an upgrade tell who asked for it. */
export interface Pace {
  /** Other work gets its turn. To be called every some milliseconds. @throws the reason of the signal, once it is aborted */
  turn(): Promise<void>
  /** The same, and tells how far it is. */
  report(progress: UpgradeProgress): Promise<void>
  readonly atFailurePoint: AtFailurePoint
}

export function createPace(
  onProgress: ((progress: UpgradeProgress) => void) | undefined,
  signal: AbortSignal | undefined,
  atFailurePoint: AtFailurePoint,
): Pace {
  const turn = async (): Promise<void> => {
    await nextTurn()
    signal?.throwIfAborted()
  }
  return {
    turn,
    async report(progress) {
      onProgress?.(progress)
      await turn()
    },
    atFailurePoint,
  }
}
