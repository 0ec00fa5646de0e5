import devnet from './devnet.json' with { type: 'json' }
import mainnet from './mainnet.json' with { type: 'json' }
import testnet from './testnet.json' with { type: 'json' }

/** A network whose waypoints are published. */
export interface KnownNetwork {
  readonly name: string
  readonly chainId: number
  /** The word before the name of each hash. */
  readonly hashSalt: string
  /** Ends of epochs as the network publishes them, `version:hash`. The first is of the genesis: it commits to each of its bytes. */
  readonly waypoints: readonly string[]
}

/** Networks of the `aptos-networks` repository. Devnet has a chain id of its own after each of its resets. */
const KNOWN_NETWORKS: readonly KnownNetwork[] = [mainnet, testnet, devnet]

/** The network that has a chain id and hashes with a word; undefined where none is known. */
export function findKnownNetwork(chainId: number, hashSalt: string): KnownNetwork | undefined {
  return KNOWN_NETWORKS.find((network) => network.chainId === chainId && network.hashSalt === hashSalt)
}
