import { isJsonObject, type JsonValue, jsonValueToText, parseJson } from '@ledger-state/bcs'
import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { jsonToStateProof, readStateProof, type StateProof } from '@ledger-state/proof'
import { invalidAnswer } from './errors.js'

/** The value in an answer, as the node decoded it. */
export type AnsweredValue =
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'bytes'; readonly value: Uint8Array | undefined }

/** An answer to a request with `proof=true`. Nothing of it is checked. */
export interface ReadAnswer {
  readonly answered: AnsweredValue
  readonly proof: StateProof
}

/**
 * Reads the body of an answer: a JSON text, the result of `JSON.parse`, or bytes of BCS.
 * @throws `invalid_answer`
 */
export function readAnswer(body: unknown): ReadAnswer {
  try {
    return body instanceof Uint8Array ? readBcs(body) : readJson(body)
  } catch (error) {
    throw toAnswerError(error)
  }
}

function readBcs(body: Uint8Array): ReadAnswer {
  const reader = new ByteReader(body)
  const value = reader.readOption(() => reader.readByteString())
  const proof = readStateProof(reader)
  reader.expectEnd()
  return { answered: { kind: 'bytes', value }, proof }
}

function readJson(body: unknown): ReadAnswer {
  const { value, proof } = readJsonParts(body)
  return { answered: { kind: 'json', value }, proof: jsonToStateProof(proof) }
}

/** An answer with a value and a proof of another kind. Nothing of it is checked. */
export interface ProvenParts<P> {
  readonly answered: AnsweredValue
  readonly proof: P
}

/** Readers of a proof from the rest of an answer in BCS, and from the member of an answer in JSON. */
export interface ProofReaders<P> {
  readBcs(reader: ByteReader): P
  fromJson(json: unknown): P
}

/**
 * Reads the body of an answer about a transaction or an event: a JSON text, the result of `JSON.parse`, or bytes of BCS,
 * which begin with the bytes of the value and their length.
 * @throws `invalid_answer`
 */
export function readProvenParts<P>(body: unknown, { readBcs: readProof, fromJson }: ProofReaders<P>): ProvenParts<P> {
  try {
    if (!(body instanceof Uint8Array)) {
      const { value, proof } = readJsonParts(body)
      return { answered: { kind: 'json', value }, proof: fromJson(proof) }
    }
    const reader = new ByteReader(body)
    const value = reader.readByteString()
    const proof = readProof(reader)
    reader.expectEnd()
    return { answered: { kind: 'bytes', value }, proof }
  } catch (error) {
    throw toAnswerError(error)
  }
}

function toAnswerError(error: unknown): unknown {
  if (!isLedgerStateError(error) || isLedgerStateError(error, 'invalid_answer')) return error
  return invalidAnswer.notAProof(error.message, error)
}

function readJsonParts(body: unknown): { readonly value: JsonValue; readonly proof: unknown } {
  // If two members have the same name, parsers differ in their choice.
  const text = typeof body === 'string' ? body : jsonOfAnswer(body)
  const answer = parseJson(text, { refusesRepeatedNames: true })
  const [value, proof] = isJsonObject(answer) ? [answer.get('value'), answer.get('proof')] : []
  if (value === undefined || proof === undefined) throw invalidAnswer.notAProof('it has no members `value` and `proof`')
  if (isJsonObject(answer) && answer.size > 2) throw invalidAnswer.notAProof('it has members that no proof covers')
  return { value, proof: JSON.parse(jsonValueToText(proof)) }
}

function jsonOfAnswer(body: unknown): string {
  try {
    return JSON.stringify(body) ?? ''
  } catch (error) {
    throw invalidAnswer.notAProof((error as Error).message, error)
  }
}
