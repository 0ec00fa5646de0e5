import { type LedgerSource, type Network, openNetwork } from '@ledger-state/feed'
import { parseWindowBound } from '../config/window-bound.js'

/** Window of a network's backups, as one process passes it to another. */
export interface NetworkWindow {
  readonly network: Network
  /** Start of the window, in the words of `--since`. */
  readonly since: string
  readonly sourceFolder: string
  readonly keepFolder: string | undefined
  readonly waypoints: readonly string[]
  readonly unsigned: boolean
  readonly verify: boolean
  /** Interval at which a backup is opened again while a node is followed. */
  readonly intervalMs: number
}

/**
 * Opens the window in the first backup of the network that answers.
 * @throws as `openNetwork`
 */
export async function openNetworkWindow(
  { network, since, intervalMs: _, ...options }: NetworkWindow,
  onNotice: (message: string) => void,
  signal: AbortSignal,
): Promise<LedgerSource> {
  const window = { since: parseWindowBound(since).bound, words: since }
  return await openNetwork(network, { ...options, hashSalt: network.hashSalt, window, onNotice, signal })
}
