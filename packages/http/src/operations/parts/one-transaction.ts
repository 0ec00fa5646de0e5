import { bytesToHex, type Steps } from '@ledger-state/core'
import { findTransaction, type LedgerState, type LedgerTransaction } from '@ledger-state/ledger'
import type { TransactionProof } from '@ledger-state/proof'
import { type RequestError, transactionHashUnknown, transactionNotKept } from '../../errors.js'
import { chooseFormat } from '../../protocol/accept.js'
import { CONTENT_TYPE, type OutputFormat } from '../../protocol/media-types.js'
import { expectLastSegment } from './account-parts.js'
import { type Answer, type OperationRequest, type Parameter, STATE_ERRORS, STATE_PARAMETERS } from './operation.js'
import { parseAskedState } from './request-parts.js'
import { orProven, PROOF_PARAMETERS, parseAskedProof } from './state-read.js'
import { parseHash } from './transaction-parts.js'
import { expectProof, TRANSACTION_PROOF_PARAMETER, withTransactionProof } from './transaction-proofs.js'
import { runInTurns } from './turn-budget.js'

/** Properties that the operations with one transaction share. */
export const ONE_TRANSACTION = {
  method: 'GET',
  negotiates: true,
  tag: 'Transactions',
  success: {
    json: orProven({ $ref: '#/components/schemas/Transaction' }, 'TransactionProof'),
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
} as const

/** Parameters that the operations with one transaction share. */
export const ONE_TRANSACTION_PARAMETERS: readonly Parameter[] = [
  ...STATE_PARAMETERS,
  ...PROOF_PARAMETERS.map((one) => (one.name === 'proof' ? TRANSACTION_PROOF_PARAMETER : one)),
]

/** Variant of a committed transaction in BCS answers with one transaction. */
const COMMITTED = Buffer.of(0)

/** Answers with a transaction, and with its proof if one is asked for. */
export function oneTransaction(
  request: OperationRequest,
  { ledger }: LedgerState,
  format: OutputFormat,
  asked: ReturnType<typeof parseAskedProof>,
  transaction: LedgerTransaction,
): Answer | Promise<Answer> {
  const answer = ({ body, proof }: RenderedTransaction): Answer | Promise<Answer> => {
    request.hold(body.length)
    if (asked && proof) return withTransactionProof(request, ledger, format, body, proof, asked)
    return { ledger, contentType: CONTENT_TYPE[format], body }
  }
  const rendered = runInTurns(request, render(transaction, format, asked !== undefined))
  return rendered instanceof Promise ? rendered.then(answer) : answer(rendered)
}

interface RenderedTransaction {
  readonly body: Buffer
  readonly proof: TransactionProof | undefined
}

function* render(transaction: LedgerTransaction, format: OutputFormat, withProof: boolean): Steps<RenderedTransaction> {
  const proof = withProof ? expectProof(transaction.version, yield* transaction.proveInSteps()) : undefined
  const body =
    format === 'json'
      ? Buffer.from(yield* transaction.toJsonInSteps())
      : Buffer.concat([COMMITTED, yield* transaction.toBcsInSteps()])
  return { body, proof }
}

/** Answers with the transaction that has the hash in the path. */
export function transactionWithHash(request: OperationRequest): Answer | Promise<Answer> {
  const format = chooseFormat(request.accept, 'json')
  const hash = parseHash(expectLastSegment(request.params.txn_hash))
  const asked = parseAskedState(request.query)
  const proof = parseAskedProof(request)
  request.expectOutput(format, 'Get transactions by hash')
  const answerAt = (state: LedgerState): Answer | Promise<Answer> | undefined => {
    const transaction = findTransaction(state, hash)
    return transaction && oneTransaction(request, state, format, proof, transaction)
  }
  const state = request.pin(asked)
  const found = answerAt(state)
  if (found) return found
  const newer = asked === undefined ? request.untilNewer() : undefined
  if (!newer) throw hashUnknown(state, hash)
  return newer.then(() => {
    const later = request.pin(undefined)
    const answer = answerAt(later)
    if (!answer) throw hashUnknown(later, hash)
    return answer
  })
}

function hashUnknown({ source }: LedgerState, hash: Uint8Array): RequestError {
  const text = bytesToHex(hash)
  return source.sliced ? transactionNotKept.hashNotInSlice(text) : transactionHashUnknown(text)
}
