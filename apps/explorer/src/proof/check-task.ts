import {
  type ReadEndings,
  type ReadProof,
  type VerifiedRead,
  type VerifiedView,
  verifyRead,
} from '@ledger-state/light-client'
import type { Believed, ProofResult, ProofTask, Reached } from './proof-task.ts'

/** Further requests to the node that a proof needs, and its progress. */
export interface TaskReads {
  readonly readEndings: ReadEndings
  readonly readProof: ReadProof
  readonly onReached: (reached: Reached) => void
}

/** Verifies an answer. A node that does not give all parts of a proof has not lied: nothing is shown of the value. */
export async function checkTask(task: ProofTask, reads: TaskReads): Promise<ProofResult> {
  const unanswered = new Set<unknown>()
  const noting =
    <A extends readonly unknown[], T>(read: (...asked: A) => Promise<T>) =>
    async (...asked: A): Promise<T> => {
      try {
        return await read(...asked)
      } catch (error) {
        unanswered.add(error)
        throw error
      }
    }
  try {
    return await check(task, { ...reads, readEndings: noting(reads.readEndings), readProof: noting(reads.readProof) })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return unanswered.has(error) ? { unavailable: why } : { refused: why }
  }
}

async function check(
  { answer, question, version, waypoint, hashSalt }: ProofTask,
  { readEndings, readProof, onReached }: TaskReads,
): Promise<ProofResult> {
  const trust = {
    waypoint,
    version: BigInt(version),
    readEndings,
    onReached: ({ epoch, lastEpoch, waypoint: reached }: { epoch: bigint; lastEpoch: bigint; waypoint: string }) =>
      onReached({ epoch: String(epoch), lastEpoch: String(lastEpoch), waypoint: reached }),
    ...(hashSalt !== null && { hashSalt }),
  }
  if (question.kind === 'view') {
    // The virtual machine is loaded with the first view that the visitor wants computed.
    const { verifyViewAnswer } = await import('./view-verifier.ts')
    const view = await verifyViewAnswer(answer, { ...trust, question: question.call })
    const results = view.results.map(({ json }) => json)
    if (results.includes(undefined)) return UNDECODABLE
    return { believed: believedOf(view, { json: `[${results.join(',')}]`, computedFrom: view.provenCount }) }
  }
  const read = await verifyRead(answer, { ...trust, question, readProof })
  if (read.bytes && read.json === undefined) return UNDECODABLE
  const { json = null, impliedJson = null } = read
  return { believed: believedOf(read, { json, impliedJson }) }
}

const UNDECODABLE: ProofResult = { refused: 'the proven bytes cannot be decoded' }

function believedOf(
  { signers, timestampUsec }: Pick<VerifiedRead | VerifiedView, 'signers' | 'timestampUsec'>,
  { json, impliedJson = null, computedFrom = null }: Partial<Believed> & Pick<Believed, 'json'>,
): Believed {
  const { epoch, count = null } = signers
  return { json, impliedJson, computedFrom, epoch: String(epoch), count, timestampUsec: String(timestampUsec) }
}
