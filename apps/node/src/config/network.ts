import { readFileSync } from 'node:fs'
import { KNOWN_NETWORKS, type Network, parseNetwork } from '@ledger-state/feed'
import { usage } from '../errors.js'

/**
 * Finds a network by its name, or reads it from a JSON file.
 * @throws `usage`, `invalid_argument`
 */
export function findNetwork(nameOrFile: string): Network {
  const known = KNOWN_NETWORKS.find(({ name }) => name === nameOrFile)
  if (known) return known
  const names = KNOWN_NETWORKS.map(({ name }) => name)
  let text: string
  try {
    text = readFileSync(nameOrFile, 'utf8')
  } catch (cause) {
    throw usage.unreadableNetwork(nameOrFile, names, cause)
  }
  try {
    return parseNetwork(JSON.parse(text))
  } catch (cause) {
    throw usage.unreadableNetwork(nameOrFile, names, cause)
  }
}
