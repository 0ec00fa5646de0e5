import { writeFileSync } from 'node:fs'
import { SYNTHETIC_CHAIN_ID } from '@ledger-state/feed/testing/synthetic-chain'

/** Content of a file for `--network` about a synthetic chain, or another one. */
export interface OwnNetwork {
  readonly chainId?: number
  readonly waypoints: readonly string[]
  readonly backups?: readonly string[]
  readonly nodes?: readonly string[]
}

/** Describes the network `mine` in a file. Returns its path. */
export function writeOwnNetwork(path: string, network: OwnNetwork): string {
  writeFileSync(path, JSON.stringify({ name: 'mine', chainId: SYNTHETIC_CHAIN_ID, hashSalt: 'APTOS::', ...network }))
  return path
}
