/** Chains that people know by a name. */
const NETWORKS: Readonly<Record<string, string>> = {
  1: 'Aptos mainnet',
  2: 'Aptos testnet',
  126: 'Movement mainnet',
}

/** The name of a network, with the id of its chain; the id alone where it has no name. */
export function networkName(chainId: string): string {
  const name = NETWORKS[chainId]
  return name === undefined ? `Chain ${chainId}` : `${name} (chain ${chainId})`
}
