import { readFile } from 'node:fs/promises'
import { otherGenesis, otherWaypoint } from '../errors.js'
import { type GenesisProof, proveGenesis } from '../proof/genesis-proof.js'
import { DEFAULT_HASH_SALT, LedgerHasher } from '../proof/ledger-hasher.js'
import { type Genesis, parseGenesis } from '../wire/genesis-transaction.js'
import { findKnownNetwork } from './known-networks.js'
import type { LedgerSource, SourceOptions } from './source.js'

/**
 * Reads a `genesis.blob`: the genesis transaction of a network, which is its version 0 and block 0. It has to have the
 * waypoint that is asked for, or else that of the known network whose chain id it has; for others nothing vouches.
 * @throws `invalid_genesis`, `verification_failed`
 */
export async function openGenesis(path: string, options: SourceOptions): Promise<LedgerSource> {
  const blob = await readFile(path)
  const genesis = parseGenesis(blob)
  const proof = options.verify === false ? undefined : proveGenesis(genesis, new LedgerHasher(options.hashSalt))
  if (options.waypoint !== undefined && proof?.waypoint !== options.waypoint) {
    throw otherWaypoint(path, proof?.waypoint, options.waypoint)
  }
  if (options.waypoint === undefined && proof) expectKnown(path, genesis, proof, options)
  let done = 0
  return {
    description: `genesis blob${proof ? ` (waypoint ${proof.waypoint})` : ''}`,
    chainId: genesis.chainId,
    position: path,
    mark: proof?.frontier,
    get progress() {
      return { done, total: blob.length, unit: 'bytes' as const }
    },
    async *versions() {
      yield genesis.record
      done = blob.length
    },
    async close() {},
  }
}

function expectKnown(path: string, { chainId }: Genesis, { waypoint }: GenesisProof, options: SourceOptions): void {
  const { hashSalt = DEFAULT_HASH_SALT, onNotice } = options
  const network = hashSalt === DEFAULT_HASH_SALT ? findKnownNetwork(chainId) : undefined
  if (!network) {
    onNotice?.(unvouchedNotice(path, chainId, waypoint))
  } else if (network.waypoint !== waypoint) {
    throw otherGenesis(path, chainId, waypoint, network.name, network.waypoint)
  }
}

function unvouchedNotice(path: string, chainId: number, waypoint: string): string {
  return `nothing vouches for ${path}: its chain ${chainId} is not a known network; compare its waypoint ${waypoint} with the published one`
}
