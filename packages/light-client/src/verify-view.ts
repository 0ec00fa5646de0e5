import { jsonOfRequest } from './json-of-request.js'
import { connectNode, newestProvenVersion } from './node-connection.js'
import type { StateOptions } from './read-from-node.js'
import { questionToCall, type VerifiedView, type ViewQuestion, verifyViewAnswer } from './verify-view-answer.js'

/** A call of a view function at a node. */
export interface VerifyViewOptions extends StateOptions, ViewQuestion {}

/**
 * Asks a node for the values that a view reads, verifies them, and runs the view here, over these values only.
 * @throws `untrusted`, `verification_failed`, `value_not_proven`, `answer_differs`, `wrong_version`, `invalid_answer`;
 *   `view_failed` if the view fails over proven values; the errors of the arguments
 */
export async function verifyView(options: VerifyViewOptions): Promise<VerifiedView> {
  const { function: name, typeArguments = [], arguments: values = [] } = options
  const question = { function: name, typeArguments, arguments: values }
  questionToCall(question)
  const node = connectNode(options)
  const { ask, trust } = node
  const version = options.version ?? (await newestProvenVersion(node))
  const body = jsonOfRequest('arguments', { function: name, type_arguments: typeArguments, arguments: values })
  const answer = await ask({ path: `/view?ledger_version=${version}&proof=true&proof_from=${trust.waypoint}`, body })
  return await verifyViewAnswer(answer, { ...trust, question, version })
}
