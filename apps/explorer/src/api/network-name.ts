/** Chains that people know by a name. */
const NETWORKS: Readonly<Record<string, string>> = {
  1: 'Aptos mainnet',
  2: 'Aptos testnet',
  126: 'Movement mainnet',
}

/** The names of networks in the public page that shows transactions. */
const PUBLIC_NETWORKS: Readonly<Record<string, string>> = { 1: 'mainnet', 2: 'testnet' }

/** Page on which anybody can look at a transaction of a public network; undefined of other chains. */
export function transactionHref(chainId: string, hash: string): string | undefined {
  const network = PUBLIC_NETWORKS[chainId]
  return network === undefined ? undefined : `https://explorer.aptoslabs.com/txn/${hash}?network=${network}`
}

/**
 * The name of a network, with the id of its chain; the id alone where it has no name.
 * @param said what the operator of the node calls it, where people have no name for its chain
 */
export function networkName(chainId: string, said?: string | null): string {
  const name = NETWORKS[chainId] ?? said ?? undefined
  return name === undefined ? `Chain ${chainId}` : `${name} (chain ${chainId})`
}
