import type { Buffer } from 'node:buffer'
import { ByteWriter } from '@ledger-state/core'
import { DEFAULT_HASH_SALT, LedgerHasher, versionOfWaypoint } from '@ledger-state/proof'
import { checkpointToBytes, type KeptTransaction, type WholeTransaction } from '@ledger-state/records'
import { verificationFailed } from '../errors.js'
import { findKnownNetwork } from '../networks/network.js'
import { type GenesisProof, proveGenesis } from '../proof/genesis-proof.js'
import { type Genesis, parseGenesis } from '../wire/genesis-transaction.js'
import type { LedgerSource, SourceOptions } from './source.js'
import { trustedStateOfGenesis } from './trusted-state.js'

const GENESIS_VERSION = 0n

/**
 * Reads the bytes of a `genesis.blob`: the genesis transaction of a network, which is its version 0 and block 0. It must have a
 * waypoint of the options or, if they have none, the waypoint of the known network with its chain id. Nothing verifies
 * the genesis of other networks.
 * @throws `invalid_genesis`, `verification_failed`
 */
export async function openGenesis(path: string, blob: Buffer, options: SourceOptions): Promise<LedgerSource> {
  const genesis = parseGenesis(blob)
  const proof = options.verify === false ? undefined : proveGenesis(genesis, new LedgerHasher(options.hashSalt))
  const isTrusted = proof !== undefined && !options.unsigned && isGenesisOf(path, genesis, proof, options)
  let done = 0
  return {
    description: `genesis blob${proof ? ` (waypoint ${proof.waypoint})` : ''}`,
    chainId: genesis.chainId,
    hashSalt: options.hashSalt ?? DEFAULT_HASH_SALT,
    position: path,
    mark: proof?.frontier,
    trustedState: isTrusted ? trustedStateOfGenesis(proof.waypoint) : undefined,
    get progress() {
      return { done, total: blob.length, unit: 'bytes' as const }
    },
    async *versions() {
      const readTransaction = (): KeptTransaction => ({
        kind: 'genesis',
        hash: hashOf(genesis, options),
        isSuccess: true,
      })
      const checkpoint = isTrusted ? checkpointToBytes(proof.checkpoint) : undefined
      const readWhole = proof && (() => wholeOf(genesis, proof))
      yield { ...genesis.record, stateRoot: proof?.stateRoot, readTransaction, readWhole, checkpoint }
      done = blob.length
    },
    async close() {},
  }
}

function wholeOf(
  { blob, writeSetStart, eventsStart }: Genesis,
  { checkpoint: { transactionInfo }, accumulatorRoot }: GenesisProof,
): WholeTransaction {
  return {
    transaction: blob,
    info: transactionInfo,
    events: blob.subarray(eventsStart),
    writeSet: blob.subarray(writeSetStart, eventsStart),
    indexInBlock: undefined,
    leaf: accumulatorRoot,
    // The only leaf is the root.
    readFrontier: () => new ByteWriter().u64(1n).bytes(accumulatorRoot).toBytes(),
  }
}

function hashOf({ blob }: Genesis, { hashSalt }: SourceOptions): Uint8Array {
  return Uint8Array.from(new LedgerHasher(hashSalt).hash('Transaction', blob))
}

/**
 * Whether a genesis has a trusted waypoint: one of the options, or of the known network with its chain id. False if no
 * trusted waypoint is a genesis waypoint.
 * @throws `verification_failed` if it has another one
 */
function isGenesisOf(path: string, { chainId }: Genesis, { waypoint }: GenesisProof, options: SourceOptions): boolean {
  const { hashSalt = DEFAULT_HASH_SALT, waypoints = [], onNotice } = options
  const given = waypoints.filter((one) => versionOfWaypoint(one) === GENESIS_VERSION)
  if (given.includes(waypoint)) return true
  if (given.length > 0) throw verificationFailed.otherWaypoint(path, waypoint, given[0]!)
  const network = options.network ?? findKnownNetwork(chainId, hashSalt)
  if (network && network.chainId !== chainId) {
    throw verificationFailed.genesisOfOtherNetwork(path, chainId, network.name, network.chainId)
  }
  const known = network?.waypoints.find((one) => versionOfWaypoint(one) === GENESIS_VERSION)
  if (!network || known === undefined) {
    onNotice?.(notTrustedNotice(path, chainId, waypoint))
    return false
  }
  if (known !== waypoint) throw verificationFailed.otherGenesis(path, chainId, waypoint, network.name, known)
  return true
}

function notTrustedNotice(path: string, chainId: number, waypoint: string): string {
  return `${path} is not verified: its chain ${chainId} is not a known network; compare its waypoint ${waypoint} with the published waypoint`
}
