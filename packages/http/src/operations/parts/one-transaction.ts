import { bytesToHex, type Steps } from '@ledger-state/core'
import { findTransaction, type LedgerState, type LedgerTransaction } from '@ledger-state/ledger'
import type { TransactionProof } from '@ledger-state/proof'
import { type RequestError, transactionHashUnknown, transactionNotKept } from '../../errors.js'
import { chooseFormat } from '../../protocol/accept.js'
import { CONTENT_TYPE, type OutputFormat } from '../../protocol/media-types.js'
import { PIECE_LENGTH } from '../../protocol/text-pieces.js'
import { expectLastSegment } from './account-parts.js'
import {
  type Answer,
  type AnswerBody,
  type OperationRequest,
  type Parameter,
  STATE_ERRORS,
  STATE_PARAMETERS,
} from './operation.js'
import { parseAskedState } from './request-parts.js'
import { orProven, PROOF_PARAMETERS, parseAskedProof } from './state-read.js'
import { parseHash } from './transaction-parts.js'
import {
  expectProof,
  TRANSACTION_PROOF_PARAMETER,
  type TransactionValue,
  withTransactionProof,
} from './transaction-proofs.js'
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
  if (!asked) {
    const toAnswer = (body: AnswerBody): Answer => ({ ledger, contentType: CONTENT_TYPE[format], body })
    const body = runInTurns(request, writeBody(request, format, transaction))
    return body instanceof Promise ? body.then(toAnswer) : toAnswer(body)
  }
  const answer = ({ value, proof }: ProvenTransaction) =>
    withTransactionProof(request, ledger, format, value, proof, asked)
  const rendered = runInTurns(request, renderProven(request, format, transaction))
  return rendered instanceof Promise ? rendered.then(answer) : answer(rendered)
}

function* writeBody(
  request: OperationRequest,
  format: OutputFormat,
  transaction: LedgerTransaction,
): Steps<AnswerBody> {
  const value = yield* render(format, transaction)
  if (typeof value === 'string' && value.length <= PIECE_LENGTH) {
    const body = Buffer.from(value)
    request.hold(body.length)
    return body
  }
  const out = request.openBody()
  if (typeof value === 'string') return yield* out.textInSteps(value)
  for (const piece of value) yield* out.writeInSteps(piece)
  return out
}

interface ProvenTransaction {
  readonly value: TransactionValue
  readonly proof: TransactionProof
}

function* renderProven(
  request: OperationRequest,
  format: OutputFormat,
  transaction: LedgerTransaction,
): Steps<ProvenTransaction> {
  const proof = expectProof(transaction.version, yield* transaction.proveInSteps())
  const value = yield* render(format, transaction)
  request.hold(typeof value === 'string' ? value.length : value.reduce((sum, piece) => sum + piece.length, 0))
  return { value, proof }
}

function* render(format: OutputFormat, transaction: LedgerTransaction): Steps<TransactionValue> {
  return format === 'json' ? yield* transaction.toJsonInSteps() : [COMMITTED, yield* transaction.toBcsInSteps()]
}

/** Answers with the transaction that has the hash in the path. */
export function transactionWithHash(request: OperationRequest): Answer | Promise<Answer> {
  const format = chooseFormat(request.accept, 'json')
  const hash = parseHash(expectLastSegment(request.params.txn_hash))
  const asked = parseAskedState(request.query)
  const proof = parseAskedProof(request)
  request.expectOutput(format, 'Get transactions by hash')
  const state = request.pin(asked)
  const transaction = findTransaction(state, hash)
  if (!transaction) throw hashUnknown(state, hash)
  return oneTransaction(request, state, format, proof, transaction)
}

function hashUnknown({ source }: LedgerState, hash: Uint8Array): RequestError {
  const text = bytesToHex(hash)
  return source.sliced ? transactionNotKept.hashNotInSlice(text) : transactionHashUnknown(text)
}
