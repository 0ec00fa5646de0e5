import type { NodeConnection, NodeOptions, NodeRequest } from './node-connection.js'
import type { ReadQuestion } from './question.js'
import { type VerifiedRead, verifyRead } from './verify-read.js'

/** A node to ask about its state, at one version. */
export interface StateOptions extends NodeOptions {
  /** Version of the state. By default the newest one at which the node gives proofs. */
  readonly version?: bigint | undefined
}

/** A question, and the request for its answer without the parameters of the proof. */
export interface AskedRead {
  readonly question: ReadQuestion
  readonly request: NodeRequest
}

/**
 * Asks a node one question at a version, and verifies the answer.
 * @param waypoint trusted for this question
 * @throws as `verifyRead`
 */
export async function readFromNode(
  { ask, trust, readProof }: NodeConnection,
  { question, request }: AskedRead,
  version: bigint,
  waypoint: string,
): Promise<VerifiedRead> {
  const path = `${request.path}?ledger_version=${version}&proof=true&proof_from=${waypoint}`
  const answer = await ask({ ...request, path })
  return await verifyRead(answer, { ...trust, waypoint, question, version, readProof })
}
