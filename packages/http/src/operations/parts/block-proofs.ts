import { type EntryVisitor, readEach } from '@ledger-state/engine'
import { type FoundProof, type LedgerState, proveStateOf } from '@ledger-state/ledger'
import type { SignedCheckpoint, StatePath } from '@ledger-state/proof'
import { invalidParameter, proofNotKept } from '../../errors.js'
import type { OperationRequest } from './operation.js'
import type { BlockProofs, StateProofs } from './state-proofs.js'

/** Most paths at an end of a block for one answer: each may read thousands of values. */
const MOST_PATHS = 100

/** The end of a block, with the paths of its state and the way to a signature. */
interface ProvableEnd {
  readonly checkpoint: SignedCheckpoint
  pathOf(stateKey: Uint8Array): Promise<StatePath>
}

/** The part of a request that a search for proofs needs. */
type Asking = Pick<OperationRequest, 'ledger'>

/**
 * The end of a block that the version of a state is.
 * @throws `proof_not_kept` if only other versions have proofs; `invalid_parameter` if none has
 */
export function expectProvableEnd(request: OperationRequest, proofs: StateProofs, state: LedgerState): ProvableEnd {
  const { version, storedView } = state
  const { blocks } = proofs
  const found = blocks?.endUpTo(version) === version ? proveEnd(request, version) : undefined
  if (!blocks || found?.kind !== 'proven') {
    throw noProofAt(request, proofs, version)
  }
  const values = {
    version,
    readEach: (keys: readonly Uint8Array[], visit: EntryVisitor) => readEach(storedView, keys, visit),
  }
  const work = { turn: () => request.nextTurn(), hold }
  // Subtrees are computed one after the other, so the largest counts.
  let [count, held] = [0, 0]
  function hold(bytes: number): void {
    if (bytes <= held) return
    request.hold(bytes - held)
    held = bytes
  }
  return {
    checkpoint: found.proof,
    async pathOf(stateKey) {
      if (++count > MOST_PATHS) throw invalidParameter.tooManyPaths(MOST_PATHS)
      const path = await blocks.pathOf(values, stateKey, work)
      if (!path) throw noProofAt(request, proofs, version)
      return path
    },
  }
}

/** The newest end of a block that has proofs; undefined if none has. */
export function newestProvableEnd(request: Asking, { blocks }: Pick<StateProofs, 'blocks'>): bigint | undefined {
  const { latestVersion } = request.ledger.at().ledger
  const end = blocks?.endUpTo(latestVersion)
  return end === undefined ? undefined : provableUpTo(request, blocks!, end)
}

function proveEnd(request: Asking, version: bigint): FoundProof<SignedCheckpoint> {
  const newest = request.ledger.at()
  const { oldestVersion, latestVersion } = newest.ledger
  if (version < oldestVersion || version > latestVersion) return { kind: 'path_not_kept' }
  return proveStateOf(newest, version)
}

/** An end itself if it has proofs, or the newest end that a signature covers. */
function provableUpTo(request: Asking, blocks: BlockProofs, end: bigint): bigint | undefined {
  const found = proveEnd(request, end)
  if (found.kind === 'proven') return end
  const signed = found.kind === 'unsigned' && found.newest !== undefined ? blocks.endUpTo(found.newest) : undefined
  return signed !== undefined && proveEnd(request, signed).kind === 'proven' ? signed : undefined
}

/** The error that a version has no proof. */
function noProofAt(request: Asking, proofs: StateProofs, version: bigint): Error {
  const nearest = nearestProof(request, proofs, version)
  return nearest === undefined ? invalidParameter.noProofsKept() : proofNotKept.ofState(version, nearest)
}

function nearestProof(request: Asking, { versions, blocks }: StateProofs, version: bigint): bigint | undefined {
  const ends = blocks ? [blocks.endUpTo(version), blocks.endAfter(version)] : []
  const provable = ends.map((end) => (end === undefined ? undefined : provableUpTo(request, blocks!, end)))
  const distance = (one: bigint) => (one > version ? one - version : version - one)
  return [...versions, ...provable]
    .filter((one) => one !== undefined)
    .reduce<bigint | undefined>(
      (best, one) => (best === undefined || distance(one) < distance(best) ? one : best),
      undefined,
    )
}
