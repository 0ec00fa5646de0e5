import { posix } from 'node:path'

/** Name of the object that represents the metadata of a backup. */
export const METADATA_NAME = 'metadata/service.meta'

/** Versions of one manifest of transactions. */
export const STRETCH_VERSIONS = 1_000_000n

/** Name of an object in the backup that represents a node's service, by its parts. */
export interface ServiceName {
  readonly kind: 'transactions' | 'endings' | 'state'
  readonly part: 'manifest' | 'root' | 'chunk' | 'proof'
  /** First and last version, epoch or entry; for a manifest only the first. */
  readonly first: bigint
  readonly last: bigint
  /** Epoch of the state that the object belongs to. */
  readonly epoch?: bigint | undefined
  readonly version?: bigint | undefined
}

const NUMBER = String.raw`(\d{1,20})`
const RANGE = `${NUMBER}-${NUMBER}`
const TRANSACTIONS = new RegExp(`^transaction_${NUMBER}-\\.node/(?:transaction\\.manifest|${RANGE}\\.(chunk|proof))$`)
const ENDINGS = new RegExp(`^epoch_ending_0-\\.node/(?:epoch_ending\\.manifest|${RANGE}\\.chunk)$`)
const STATE = new RegExp(
  `^state_epoch_${NUMBER}_ver_${NUMBER}\\.node/(?:state\\.(manifest|proof)|${RANGE}\\.(chunk|proof))$`,
)

export function nameOf({ kind, part, first, last, epoch, version }: ServiceName): string {
  if (kind === 'transactions') {
    const folder = `transaction_${first - (first % STRETCH_VERSIONS)}-.node`
    return part === 'manifest' ? `${folder}/transaction.manifest` : `${folder}/${first}-${last}.${part}`
  }
  if (kind === 'endings') {
    return `epoch_ending_0-.node/${part === 'manifest' ? 'epoch_ending.manifest' : `${first}-${last}.chunk`}`
  }
  const folder = `state_epoch_${epoch}_ver_${version}.node`
  if (part === 'manifest') return `${folder}/state.manifest`
  return part === 'root' ? `${folder}/state.proof` : `${folder}/${first}-${last}.${part}`
}

/** Reads a name; undefined if it does not name such an object. */
export function parseName(name: string): ServiceName | undefined {
  const transactions = TRANSACTIONS.exec(name)
  if (transactions) {
    const [, stretch, first, last, part] = transactions
    if (first === undefined) return { kind: 'transactions', part: 'manifest', first: BigInt(stretch!), last: 0n }
    return { kind: 'transactions', part: part as 'chunk' | 'proof', first: BigInt(first), last: BigInt(last!) }
  }
  const endings = ENDINGS.exec(name)
  if (endings) {
    const [, first, last] = endings
    if (first === undefined) return { kind: 'endings', part: 'manifest', first: 0n, last: 0n }
    return { kind: 'endings', part: 'chunk', first: BigInt(first), last: BigInt(last!) }
  }
  const state = STATE.exec(name)
  if (!state) return undefined
  const [, epoch, version, single, first, last, part] = state
  const of = { kind: 'state', epoch: BigInt(epoch!), version: BigInt(version!) } as const
  if (first === undefined) return { ...of, part: single === 'manifest' ? 'manifest' : 'root', first: 0n, last: 0n }
  return { ...of, part: part as 'chunk' | 'proof', first: BigInt(first), last: BigInt(last!) }
}

/** The name of the manifest of a folder. */
export function manifestOf(folder: string): string {
  const kind = folder.startsWith('state_') ? 'state' : folder.startsWith('epoch_') ? 'epoch_ending' : 'transaction'
  return posix.join(folder, `${kind}.manifest`)
}
