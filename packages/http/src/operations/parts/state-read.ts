import { ByteReader, bytesToHex, isLedgerStateError, noSteps, type Steps } from '@ledger-state/core'
import { type LedgerState, type Moment, readStateValue } from '@ledger-state/ledger'
import {
  checkStateProofInSteps,
  type InfoProof,
  LedgerHasher,
  readLedgerInfo,
  type SignedCheckpoint,
  type StatePath,
  type StateProof,
  stateProofToJsonPieces,
  stateProofToPieces,
  versionOfWaypoint,
} from '@ledger-state/proof'
import { readSlice } from '@ledger-state/slices'
import { encodeStateValue } from '@ledger-state/type-tag'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import { invalidParameter, invalidRequest, outputDisabled } from '../../errors.js'
import type { JsonSchema } from '../../formats/json-schema.js'
import { acceptsOnlyJson, chooseFormat } from '../../protocol/accept.js'
import { CONTENT_TYPE, type OutputFormat } from '../../protocol/media-types.js'
import { writeBcsWithProof, writeJsonWithProof } from './answer-with-proof.js'
import { expectProvableEnd } from './block-proofs.js'
import type { Answer, OperationRequest, Parameter } from './operation.js'
import { parameterOf } from './request-parts.js'
import type { StateProofs } from './state-proofs.js'
import { MAX_ENDING_BYTES } from './state-proofs.js'
import { runInTurns } from './turn-budget.js'

/** Parameters that ask for a proof. */
export const PROOF_PARAMETERS: readonly Parameter[] = [
  {
    name: 'proof',
    in: 'query',
    description:
      'With `true` the answer is `{value, proof}`: the value, or null if there is none, and its proof from the signatures of validators. Proofs exist at signed checkpoints, which `GET /v1/-/trust` lists as `proof_versions`, and at ends of blocks if the node keeps the data for them (`proof_blocks`): give one of them as `ledger_version`.',
    schema: { type: 'boolean' },
  },
  {
    name: 'proof_from',
    in: 'query',
    description:
      'A waypoint `version:hash` of an epoch change that the client trusts: the proof then has the epoch changes since that waypoint, about 1 MiB at most. `GET /v1/-/epoch_endings` has the rest.',
    schema: { type: 'string', pattern: '^\\d+:[0-9a-f]{64}$' },
  },
]

/** The schemas of answers with and without a proof. */
export function orProven(schema: JsonSchema, proof: string): JsonSchema {
  const proven = {
    type: 'object',
    required: ['value', 'proof'],
    properties: { value: schema, proof: { $ref: `#/components/schemas/${proof}` } },
  }
  return { oneOf: [schema, proven] }
}

/** The schema of an answer with a proof. */
export const PROVEN_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['value', 'proof'],
  properties: { value: {}, proof: { $ref: '#/components/schemas/StateProof' } },
}

/** The proof that a request asks for. */
export interface AskedProof {
  /** Version of the epoch change at which the proof begins; undefined if no epoch changes are wanted. */
  readonly from: bigint | undefined
}

/**
 * Parses the proof that a request asks for; undefined if it asks for none.
 * @throws `invalid_request`
 */
export function parseAskedProof({ query }: OperationRequest): AskedProof | undefined {
  if (query === '') return undefined
  const isAsked = parameterOf(query, 'proof', parseBoolean)
  const from = parameterOf(query, 'proof_from', versionOfWaypoint)
  return isAsked ? { from } : undefined
}

/** A value that was read, with its forms in both formats. */
export interface EncodableValue {
  readonly bytes: Uint8Array
  /** JSON of the value, in steps if it is long; a string has only ASCII. */
  toJson(): Steps<string | Uint8Array>
}

/** A value with hex as its only JSON form. */
export function hexValue(bytes: Uint8Array): EncodableValue {
  return { bytes, toJson: () => noSteps(`"${bytesToHex(bytes)}"`) }
}

/** A text as UTF-8, in steps: as a string that is not ASCII it could not be a body. */
export function* utf8InSteps(text: Steps<string>): Steps<Uint8Array> {
  return Buffer.from(yield* text)
}

/**
 * Chooses the format for a value that has a JSON form only within a proof.
 * @throws the error that only BCS is offered
 */
export function chooseRawFormat(
  request: OperationRequest,
  proof: AskedProof | undefined,
  operation: string,
): OutputFormat {
  if (!proof && acceptsOnlyJson(request.accept)) throw outputDisabled.onlyBcsOffered(operation)
  const format = proof ? chooseFormat(request.accept, 'bcs') : 'bcs'
  request.expectOutput(format, operation)
  return format
}

/** A read of a value of the state. */
export interface StateRead {
  readonly format: OutputFormat
  readonly asked: Moment | undefined
  /** State key, in database form, under which the value is stored. */
  keyOf(state: LedgerState): Uint8Array
  /**
   * Reads the value.
   * @throws the error that says that there is none
   */
  read(state: LedgerState): EncodableValue
}

const NOT_THERE = [
  'table_item_not_found',
  'resource_not_found',
  'account_not_found',
  'account_module_not_found',
  'state_value_not_found',
] as const

/**
 * Answers a read, with a proof if one is asked for.
 * @throws `proof_not_kept` if the version has no proofs, `invalid_parameter` if no version has
 */
export function answerRead(
  request: OperationRequest,
  proof: AskedProof | undefined,
  read: StateRead,
): Answer | Promise<Answer> {
  if (proof) return answerWithProof(request, proof, read)
  const { format } = read
  const state = request.pin(read.asked)
  const value = read.read(state)
  const toAnswer = (body: string | Uint8Array): Answer => {
    return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
  }
  if (format === 'bcs') return toAnswer(value.bytes)
  const json = runInTurns(request, value.toJson())
  return json instanceof Promise ? json.then(toAnswer) : toAnswer(json)
}

function answerWithProof(
  request: OperationRequest,
  { from }: AskedProof,
  { format, asked, keyOf, read }: StateRead,
): Answer | Promise<Answer> {
  const state = request.pin(asked)
  const source = expectProofSource(request, state)
  const value = ifThere(() => read(state))
  const stateKey = keyOf(state)
  const path = source.pathOf(stateKey)
  const writeBody = (proof: StateProof) => {
    const out = request.openBody()
    return format === 'json' ? writeJson(out, value, proof) : writeBcs(out, value, proof)
  }
  const toAnswer = (body: AnswerBytes): Answer => ({ ledger: state.ledger, contentType: CONTENT_TYPE[format], body })
  if (path instanceof Promise || from !== undefined) {
    const prove = async () => runInTurns(request, proveKey(source, await path, stateKey, state))
    return prove()
      .then((proof) => withEndings(request, source, from, proof))
      .then((proof) => runInTurns(request, writeBody(proof)))
      .then(toAnswer)
  }
  const body = runInTurns(request, proveAndWrite(proveKey(source, path, stateKey, state), writeBody))
  return body instanceof Promise ? body.then(toAnswer) : toAnswer(body)
}

function* proveAndWrite(
  prove: Steps<StateProof>,
  writeBody: (proof: StateProof) => Steps<AnswerBytes>,
): Steps<AnswerBytes> {
  return yield* writeBody(yield* prove)
}

/** The source of the proofs of one state. */
export interface ProofSource {
  readonly proofs: StateProofs
  readonly checkpoint: SignedCheckpoint
  /** The path of a state key in database form: at once from a tree, later if it is computed. */
  pathOf(stateKey: Uint8Array): StatePath | Promise<StatePath>
}

/**
 * The source of proofs of a state.
 * @throws `proof_not_kept` if only other versions have one; `invalid_parameter` if none has
 */
export function expectProofSource(request: OperationRequest, state: LedgerState): ProofSource {
  const { proofs } = request
  const tree = proofs?.at(state.version)
  if (proofs && tree) return { proofs, checkpoint: tree.checkpoint, pathOf: (stateKey) => tree.pathOf(stateKey) }
  if (proofs && (proofs.versions.length > 0 || proofs.blocks)) {
    return { proofs, ...expectProvableEnd(request, proofs, state) }
  }
  throw readSlice(state.view) ? invalidParameter.noProofsOfSlice() : invalidParameter.noProofsKept()
}

/**
 * Adds the epoch changes since a version to a proof, if they are asked for.
 * @throws `invalid_request` if no kept epoch ends at the version
 */
export async function withEndings<P extends object>(
  request: OperationRequest,
  { proofs, checkpoint }: ProofSource,
  from: bigint | undefined,
  proof: P,
): Promise<P> {
  if (from === undefined) return proof
  request.hold(MAX_ENDING_BYTES)
  return { ...proof, epochEndings: await endingsFrom(proofs, checkpoint, from) }
}

/** Proves a key, in steps. A proof that does not hold, by a fault of the store or of the tree, is never sent. */
function* proveKey(
  { proofs, checkpoint }: ProofSource,
  path: StatePath,
  stateKey: Uint8Array,
  state: LedgerState,
): Steps<StateProof> {
  const proof = { stateKey, stateValue: storedValueOf(state, stateKey), path, checkpoint, epochEndings: [] }
  yield* checkStateProofInSteps(new LedgerHasher(proofs.hashSalt), proof)
  return proof
}

/** BCS of the state value of a key, with its metadata; undefined if the key has none. */
export function storedValueOf(state: LedgerState, stateKey: Uint8Array): Uint8Array | undefined {
  const stored = ifThere(() => readStateValue(state, stateKey))
  return stored && encodeStateValue(stored)
}

/**
 * The epoch changes since a version.
 * @throws `invalid_request` if no kept epoch ends at the version
 */
export async function endingsFrom(
  proofs: StateProofs,
  { ledgerInfo }: Pick<InfoProof, 'ledgerInfo'>,
  version: bigint,
): Promise<readonly Uint8Array[]> {
  const { epoch, version: end } = readLedgerInfo(new ByteReader(ledgerInfo))
  if (version === end) return []
  const found = await proofs.endings({ version, lastEpoch: epoch - 1n, maxBytes: MAX_ENDING_BYTES })
  if (!found) throw invalidRequest.endingNotKept('proof_from', version, end)
  return found
}

function* writeJson(out: AnswerBytes, value: EncodableValue | undefined, proof: StateProof): Steps<AnswerBytes> {
  const json = value ? yield* value.toJson() : 'null'
  return yield* writeJsonWithProof(out, json, stateProofToJsonPieces(proof))
}

/** Writes BCS of an option of the value's bytes, and of the proof. */
function* writeBcs(out: AnswerBytes, value: EncodableValue | undefined, proof: StateProof): Steps<AnswerBytes> {
  out.write(Uint8Array.of(value ? 1 : 0))
  if (value) return yield* writeBcsWithProof(out, [value.bytes], stateProofToPieces(proof))
  for (const piece of stateProofToPieces(proof)) yield* out.writeInSteps(piece)
  return out
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error, ...NOT_THERE)) return undefined
    throw error
  }
}

/** @throws `invalid_request` */
export function parseBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw invalidRequest.notABoolean(text)
  return text === 'true'
}
