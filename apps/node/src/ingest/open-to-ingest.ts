import { existsSync } from 'node:fs'
import { isLedgerStateError } from '@ledger-state/core'
import { KNOWN_NETWORKS, type LedgerSource, type Network, openNetwork, openSource } from '@ledger-state/feed'
import { stoppedBy, usage } from '../errors.js'
import type { Stop } from '../terminal/stop-signal.js'
import { type SourceSettings, withBackup } from './ingest-settings.js'

/**
 * Opens a source, or a backup of the network with that name. A signal stops the opening and later transfers.
 * @throws `stopped`, and as `openSource`
 */
export async function openToIngest(
  location: string,
  { backupOfNode, ...options }: SourceSettings,
  stop: Stop,
): Promise<LedgerSource> {
  const named = networkNamed(location, options.network)
  if (!named && backupOfNode !== undefined && location !== backupOfNode) throw usage.sourceBesideNode(location)
  try {
    const network = named && withBackup(named, backupOfNode)
    if (network) return await openNetwork(network, { ...options, hashSalt: network.hashSalt, signal: stop.signal })
    return await openSource(location, { ...options, signal: stop.signal })
  } catch (error) {
    throw asStopped(error, stop)
  }
}

/** The network that a location names, unless a file or folder has that name. */
function networkNamed(location: string, given: Network | undefined): Network | undefined {
  const network = given?.name === location ? given : KNOWN_NETWORKS.find(({ name }) => name === location)
  return network && !existsSync(location) ? network : undefined
}

/**
 * Turns an error of a source that a signal ended into `stopped`, because it is not a fault of the source.
 * @param left what the stop leaves, and how to go on
 */
export function asStopped(error: unknown, stop: Stop, left = 'run the same command again to resume'): unknown {
  const signal = stop.by()
  return signal && isLedgerStateError(error, 'source_failed') ? stoppedBy(signal, left) : error
}
