export interface KnownNetwork {
  readonly name: string
  readonly chainId: number
  /** Ends of epochs as the network publishes them, `version:hash`. The first is of the genesis: it commits to each of its bytes. */
  readonly waypoints: readonly [string, ...string[]]
}

/** Networks of the `aptos-networks` repository. Devnet has a chain id of its own after each of its resets. */
const KNOWN_NETWORKS: readonly KnownNetwork[] = [
  {
    name: 'mainnet',
    chainId: 1,
    waypoints: [
      '0:6072b68a942aace147e0655c5704beaa255c84a7829baa4e72a500f1516584c4',
      '1638030465:c2b8b05061483c8d89426020fc3e6282746bd68299908113c265823860a5476e',
    ],
  },
  {
    name: 'testnet',
    chainId: 2,
    waypoints: [
      '0:4b56f15c1dcef7f9f3eb4b4798c0cba0f1caacc0d35f1c80ad9b7a21f1f8b454',
      '1836949986:91371e30a26bfd6dfce9439907370fcdd272eb2c25262b22809576c8c7d437a5',
    ],
  },
  {
    name: 'devnet',
    chainId: 243,
    waypoints: ['0:60d173fa4089ba2e45edbed9e82e5a5f9425d2f5cc9352b50e9c5e0d14c658e8'],
  },
]

export function findKnownNetwork(chainId: number): KnownNetwork | undefined {
  return KNOWN_NETWORKS.find((network) => network.chainId === chainId)
}
