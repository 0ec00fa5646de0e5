/** Names of chains that people know, by their ids. */
const NETWORKS: Readonly<Record<string, string>> = {
  1: 'Aptos mainnet',
  2: 'Aptos testnet',
  126: 'Movement mainnet',
}

/** Names of networks on the public page that shows transactions, by chain id. */
const PUBLIC_NETWORKS: Readonly<Record<string, string>> = { 1: 'mainnet', 2: 'testnet' }

/** Page on which anyone can look at a transaction of a public network; undefined for other chains. */
export function transactionHref(chainId: string, hash: string): string | undefined {
  const network = PUBLIC_NETWORKS[chainId]
  return network === undefined ? undefined : `https://explorer.aptoslabs.com/txn/${hash}?network=${network}`
}

/**
 * The name of a network, with the id of its chain; only the id if it has no name.
 * @param said the name that the operator of the node gave it, for a chain without a common name
 */
export function networkName(chainId: string, said?: string | null): string {
  const name = NETWORKS[chainId] ?? said ?? undefined
  // The id stays next to its word.
  return name === undefined ? `Chain ${chainId}` : `${name} (chain\u00a0${chainId})`
}
