import { versionOfWaypoint } from '@ledger-state/proof'
import { invalidArgument } from '../errors.js'
import devnet from './devnet.json' with { type: 'json' }
import mainnet from './mainnet.json' with { type: 'json' }
import testnet from './testnet.json' with { type: 'json' }

/** Data that a network publishes about itself. */
export interface Network {
  readonly name: string
  /** Chain id, from 0 to 255. */
  readonly chainId: number
  /** The word before the name of each hash, such as `APTOS::`. */
  readonly hashSalt: string
  /**
   * Waypoints of epoch changes, each `version:hash`. The first waypoint of a known network is its genesis. The hash
   * covers each byte of the genesis.
   */
  readonly waypoints: readonly string[]
  /** Locations of the network's backups. Each is a mirror of the others; the first is asked first. */
  readonly backups?: readonly string[] | undefined
  /** URLs of the APIs of public nodes, each ending in `/v1`. */
  readonly nodes?: readonly string[] | undefined
}

/** Networks of the `aptos-networks` repository. Devnet has its own chain id after each of its resets. */
export const KNOWN_NETWORKS: readonly Network[] = [mainnet, testnet, devnet]

const MAX_CHAIN_ID = 255
const MEMBERS = ['name', 'chainId', 'hashSalt', 'waypoints', 'backups', 'nodes']

/** Finds a network by its chain id and the word that begins its hashes; undefined if none is known. */
export function findKnownNetwork(chainId: number, hashSalt: string): Network | undefined {
  return KNOWN_NETWORKS.find((network) => network.chainId === chainId && network.hashSalt === hashSalt)
}

/**
 * Reads a network from JSON: `{"name", "chainId", "hashSalt", "waypoints": ["version:hash"]}`, and optionally
 * `"backups": ["s3://BUCKET/PREFIX"]` and `"nodes": ["https://HOST/v1"]`.
 * @throws `invalid_argument` naming the member
 * @example
 * ```ts
 * import { parseNetwork } from '@ledger-state/feed'
 *
 * const { name } = parseNetwork({ name: 'mine', chainId: 7, hashSalt: 'APTOS::', waypoints: [] })
 * console.log(name) // mine
 * ```
 */
export function parseNetwork(value: unknown): Network {
  if (typeof value !== 'object' || value === null) throw invalidArgument.invalidNetwork('it is not an object')
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined) throw invalidArgument.invalidNetwork(`the member ${JSON.stringify(unknown)} is unknown`)
  const { name, chainId, hashSalt, waypoints, backups, nodes } = value as Record<string, unknown>
  if (typeof name !== 'string' || name === '') throw invalidArgument.invalidNetwork('"name" is not a text')
  if (typeof chainId !== 'number' || !Number.isInteger(chainId) || chainId < 0 || chainId > MAX_CHAIN_ID) {
    throw invalidArgument.invalidNetwork(`"chainId" is not a whole number from 0 to ${MAX_CHAIN_ID}`)
  }
  if (typeof hashSalt !== 'string') throw invalidArgument.invalidNetwork('"hashSalt" is not a text')
  if (!Array.isArray(waypoints)) throw invalidArgument.invalidNetwork('"waypoints" is not a list')
  for (const waypoint of waypoints) {
    if (typeof waypoint !== 'string') throw invalidArgument.invalidNetwork('a waypoint is not a text')
    versionOfWaypoint(waypoint)
  }
  if (backups !== undefined && !isListOf(backups, /./))
    throw invalidArgument.invalidNetwork('"backups" is not a list of sources')
  if (nodes !== undefined && !isListOf(nodes, /^https?:\/\/[^/?#@]+(?:\/[^?#]*)?\/v1$/)) {
    throw invalidArgument.invalidNetwork('"nodes" is not a list of URLs that end in /v1')
  }
  return { name, chainId, hashSalt, waypoints, ...(backups && { backups }), ...(nodes && { nodes }) }
}

function isListOf(value: unknown, pattern: RegExp): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' && pattern.test(one))
}
