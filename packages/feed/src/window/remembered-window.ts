import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { makeFolderNow, writeDurably } from '@ledger-state/core/files'
import { readRegularFile } from '../files/regular-file.js'

const FILE = 'window.json'
const MOST_BYTES = 64 * 1024

/** The remembered choice of a state for a window, with which the same command resumes although time has passed. */
export interface RememberedWindow {
  /** Name of the network whose backups have the window, or else the root of the backup. */
  readonly of: string
  /** The words that asked for the window. */
  readonly words: string
  /** Version of the state, in decimal; null for the genesis. */
  readonly base: string | null
}

/**
 * Reads the window remembered in a folder; undefined if there is none, or it is damaged.
 * @throws `source_failed` if the system cannot read it now: another window would be chosen
 */
export async function readRememberedWindow(folder: string): Promise<RememberedWindow | undefined> {
  try {
    const value: unknown = JSON.parse((await readRegularFile(join(folder, FILE), MOST_BYTES)).toString('utf8'))
    return isRememberedWindow(value) ? value : undefined
  } catch (error) {
    if (isLedgerStateError(error, 'source_failed')) throw error
    return undefined
  }
}

export async function rememberWindow(folder: string, window: RememberedWindow): Promise<void> {
  makeFolderNow(folder)
  await writeDurably(join(folder, FILE), JSON.stringify(window))
}

function isRememberedWindow(value: unknown): value is RememberedWindow {
  if (typeof value !== 'object' || value === null) return false
  const { of, words, base } = value as Record<string, unknown>
  const isVersion = base === null || (typeof base === 'string' && /^\d{1,20}$/.test(base))
  return typeof of === 'string' && typeof words === 'string' && isVersion
}
