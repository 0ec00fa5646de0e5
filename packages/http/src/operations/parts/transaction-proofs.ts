import { ByteWriter } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import type { FoundProof, LedgerEvent } from '@ledger-state/ledger'
import {
  eventProofToJson,
  type TransactionProof,
  transactionProofToJsonPieces,
  transactionProofToPieces,
  writeEventProof,
} from '@ledger-state/proof'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import { invalidParameter, proofNotKept } from '../../errors.js'
import { CONTENT_TYPE, type OutputFormat } from '../../protocol/media-types.js'
import { writeBcsWithProof, writeJsonWithProof } from './answer-with-proof.js'
import type { Answer, OperationRequest, Parameter } from './operation.js'
import { parameterOf } from './request-parts.js'
import { MAX_ENDING_BYTES } from './state-proofs.js'
import { type AskedProof, endingsFrom, parseBoolean } from './state-read.js'
import { type ItemForms, MOST_ITEMS, shortForms } from './transaction-parts.js'
import { runInTurns } from './turn-budget.js'

/** Most items of a page with a proof for each: a proof reads some kept transactions for each level of the tree. */
const MOST_PROVEN_ITEMS = 10

/** Parameter that asks for a proof with a transaction. */
export const TRANSACTION_PROOF_PARAMETER: Parameter = {
  name: 'proof',
  in: 'query',
  description:
    'With `true` the answer is `{value, proof}`: the transaction, and its proof from the signatures of validators.',
  schema: { type: 'boolean' },
}

/** Parameter that asks for a proof with each event of a page. */
export const EVENT_PROOF_PARAMETER: Parameter = {
  name: 'proof',
  in: 'query',
  description: `With \`true\` each item is \`{value, proof}\`: the event, and its proof from the signatures of validators. A page has at most ${MOST_PROVEN_ITEMS} such items.`,
  schema: { type: 'boolean' },
}

/** Whether a page of events is to have a proof of each. */
export function asksForEventProofs({ query }: OperationRequest): boolean {
  return query !== '' && (parameterOf(query, 'proof', parseBoolean) ?? false)
}

/** Most events of a page. */
export function mostEvents(withProofs: boolean): number {
  return withProofs ? MOST_PROVEN_ITEMS : MOST_ITEMS
}

/** Forms of the events of a page. */
export function eventForms(withProofs: boolean): ItemForms<LedgerEvent> {
  return withProofs ? PROVEN_FORMS : EVENT_FORMS
}

const EVENT_FORMS = shortForms<LedgerEvent>(
  (event) => event.toJson(),
  ({ bytes }) => bytes,
)

const PROVEN_FORMS: ItemForms<LedgerEvent> = {
  *toJson(event) {
    const proof = expectProof(event.version, yield* event.proveInSteps())
    return `{"value":${event.toJson()},"proof":${JSON.stringify(eventProofToJson(proof))}}`
  },
  *toBcs(event) {
    const writer = new ByteWriter().byteString(event.bytes)
    writeEventProof(writer, expectProof(event.version, yield* event.proveInSteps()))
    return writer.toBytes()
  },
}

/** A transaction as its answers without a proof have it: JSON as a text, or BCS in pieces. */
export type TransactionValue = string | readonly Uint8Array[]

/** Answers with a transaction and its proof. */
export function withTransactionProof(
  request: OperationRequest,
  ledger: LedgerSummary,
  format: OutputFormat,
  value: TransactionValue,
  proof: TransactionProof,
  { from }: AskedProof,
): Answer | Promise<Answer> {
  const toAnswer = (whole: TransactionProof): Answer | Promise<Answer> => {
    const out = request.openBody()
    const written = runInTurns(
      request,
      typeof value === 'string'
        ? writeJsonWithProof(out, value, transactionProofToJsonPieces(whole))
        : writeBcsWithProof(out, value, transactionProofToPieces(whole)),
    )
    const withBody = (body: AnswerBytes): Answer => ({ ledger, contentType: CONTENT_TYPE[format], body })
    return written instanceof Promise ? written.then(withBody) : withBody(written)
  }
  if (from === undefined) return toAnswer(proof)
  if (!request.proofs) throw invalidParameter.noProofsKept()
  request.hold(MAX_ENDING_BYTES)
  return endingsFrom(request.proofs, proof.infoProof, from).then((epochEndings) => toAnswer({ ...proof, epochEndings }))
}

/**
 * The proof of a version.
 * @throws `proof_not_kept`; `invalid_parameter` if no version has one
 */
export function expectProof<T>(version: bigint, found: FoundProof<T>): T {
  if (found.kind === 'proven') return found.proof
  if (found.kind === 'path_not_kept') throw proofNotKept.pathNotKept(version)
  if (found.newest === undefined) throw invalidParameter.noProofsKept()
  throw proofNotKept.notSigned(version, found.newest)
}
