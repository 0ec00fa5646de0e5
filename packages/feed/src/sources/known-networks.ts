export interface KnownNetwork {
  readonly name: string
  readonly chainId: number
  /** Of the genesis, as the network publishes it: it commits to every byte of the genesis transaction. */
  readonly waypoint: string
}

/** Networks of the `aptos-networks` repository. Devnet has a chain id of its own after each of its resets. */
const KNOWN_NETWORKS: readonly KnownNetwork[] = [
  { name: 'mainnet', chainId: 1, waypoint: '0:6072b68a942aace147e0655c5704beaa255c84a7829baa4e72a500f1516584c4' },
  { name: 'testnet', chainId: 2, waypoint: '0:4b56f15c1dcef7f9f3eb4b4798c0cba0f1caacc0d35f1c80ad9b7a21f1f8b454' },
  { name: 'devnet', chainId: 243, waypoint: '0:60d173fa4089ba2e45edbed9e82e5a5f9425d2f5cc9352b50e9c5e0d14c658e8' },
]

export function findKnownNetwork(chainId: number): KnownNetwork | undefined {
  return KNOWN_NETWORKS.find((network) => network.chainId === chainId)
}
