import { isLedgerStateError } from '@ledger-state/core'
import { BACKUP_FAULTS, backupNotOpened, invalidArgument } from '../errors.js'
import { KNOWN_NETWORKS, type Network } from '../networks/network.js'
import { openSource } from './open-source.js'
import type { LedgerSource, SourceOptions } from './source.js'

/**
 * Opens the first backup of a network that answers and is sound, as far as opening it shows. Backups of known networks
 * are public: requests to them carry no account.
 * @throws `invalid_argument` if the network names no backup; the error of the first backup, and no notice, if none can
 *   be opened
 * @example
 * ```ts
 * import { openNetwork, parseNetwork } from '@ledger-state/feed'
 *
 * const network = parseNetwork({ name: 'mine', chainId: 7, hashSalt: 'APTOS::', waypoints: [] })
 * await openNetwork(network).catch(({ code }) => console.log(code)) // invalid_argument
 * ```
 */
export async function openNetwork(network: Network, options: SourceOptions = {}): Promise<LedgerSource> {
  const { backups = [], name } = network
  if (backups.length === 0) throw invalidArgument.networkWithoutBackups(name)
  const isAnonymous = options.isAnonymous ?? KNOWN_NETWORKS.some((known) => known.name === name)
  let failure: unknown
  const notices: string[] = []
  for (const location of backups) {
    try {
      const source = await openSource(location, { ...options, network, isAnonymous })
      for (const text of notices) options.onNotice?.(text)
      return source
    } catch (error) {
      if (!isLedgerStateError(error, 'invalid_argument', ...BACKUP_FAULTS) || options.signal?.aborted) throw error
      notices.push(backupNotOpened(location, error.message))
      failure ??= error
    }
  }
  throw failure
}
