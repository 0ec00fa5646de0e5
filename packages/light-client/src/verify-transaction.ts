import { isJsonObject, type JsonValue, jsonValueToText, parseJson } from '@ledger-state/bcs'
import { addressToLongHex, bytesToHex, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { parseTypeTag } from '@ledger-state/type-tag'
import { invalidAnswer, invalidOption } from './errors.js'
import { connectNode, type NodeOptions } from './node-connection.js'
import {
  type EventQuestion,
  type VerifiedEvent,
  type VerifiedTransaction,
  verifyEventAnswer,
  verifyTransactionAnswer,
} from './verify-transaction-answer.js'

/** A transaction at a node, by its version or its hash. */
export interface VerifyTransactionOptions extends NodeOptions {
  readonly version?: bigint | undefined
  /** 32 bytes. */
  readonly hash?: Uint8Array | undefined
}

/** An event at a node. */
export interface VerifyEventOptions extends NodeOptions {
  readonly question: EventQuestion
  /** Version of its transaction: a question about a type needs it. */
  readonly version?: bigint | undefined
}

/**
 * Asks a node for a transaction, and verifies the answer. The result has the write set.
 * @throws `untrusted`, `verification_failed`, `answer_differs`, `wrong_version`, `wrong_transaction`, `invalid_answer`,
 *   `invalid_argument`
 */
export async function verifyTransaction(options: VerifyTransactionOptions): Promise<VerifiedTransaction> {
  const { version, hash } = options
  if (version === undefined && hash === undefined) throw invalidOption.noTransactionNamed()
  const { ask, trust } = connectNode(options)
  const place = version === undefined ? `by_hash/${bytesToHex(hash!)}` : `by_version/${version}`
  const answer = await ask({ path: `/transactions/${place}?proof=true&proof_from=${trust.waypoint}` })
  return await verifyTransactionAnswer(answer, { ...trust, version, hash })
}

/**
 * Asks a node for an event, and verifies the answer: the event with a number in a stream, or an event of a type in a
 * transaction. If the transaction has several of the type, the node chooses. Nothing shows that there are no others.
 * @throws `untrusted`, `verification_failed`, `answer_differs`, `wrong_version`, `wrong_event`, `invalid_answer`, and
 *   the errors of the question
 */
export async function verifyEvent(options: VerifyEventOptions): Promise<VerifiedEvent> {
  const { question, version } = options
  const path = pathOf(question, version)
  const { ask, trust } = connectNode(options)
  const page = new TextDecoder().decode(await ask({ path: `${path}&limit=1&proof=true`, format: 'json' }))
  return await verifyEventAnswer(firstItemOf(page), { ...trust, question, version })
}

/** Path of the page that begins with the event. */
function pathOf(question: EventQuestion, version: bigint | undefined): string {
  switch (question?.kind) {
    case 'stream': {
      const { address, creationNumber, sequenceNumber } = question
      if (sequenceNumber === undefined) throw invalidOption.noEventNamed('sequenceNumber')
      return `/accounts/${addressToLongHex(parseAddress(address))}/events/${creationNumber}?start=${sequenceNumber}`
    }
    case 'type': {
      parseTypeTag(question.type)
      if (version === undefined) throw invalidOption.noEventNamed('version')
      return `/events/${encodeURIComponent(question.type)}?from=${version}&order=asc`
    }
    default:
      throw invalidOption.unknownKind(question)
  }
}

/** The text of the first item of a page. @throws `invalid_answer` */
function firstItemOf(page: string): string {
  const items = parsePage(page)
  if (!Array.isArray(items)) throw invalidAnswer.notAPage('it is no list')
  const [first] = items as readonly JsonValue[]
  if (!isJsonObject(first)) throw invalidAnswer.notAPage(first === undefined ? 'it is empty' : 'its item is no object')
  return jsonValueToText(first)
}

function parsePage(page: string): JsonValue {
  try {
    return parseJson(page, { refusesRepeatedNames: true })
  } catch (error) {
    if (isLedgerStateError(error)) throw invalidAnswer.notAPage(error.message, error)
    throw error
  }
}
