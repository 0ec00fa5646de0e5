import { isJsonObject, type JsonValue, jsonValueToText, parseJson } from '@ledger-state/bcs'
import { bytesToHex, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { isSameBytes } from '@ledger-state/core/bytes'
import { type ModuleAbi, moduleAbi, readModuleInterface } from '@ledger-state/move-module'
import { checkStateProof, DEFAULT_HASH_SALT, LedgerHasher } from '@ledger-state/proof'
import type { AnswerOptions, VerifiedState } from './answer-options.js'
import { checkSignatures } from './check-signatures.js'
import { answerDiffers, wrongStateKey, wrongVersion } from './errors.js'
import { type AccountAnswer, impliedAccount } from './implied-account.js'
import { ProvenModules, type ReadProof, storedBytes } from './proven-modules.js'
import { lookUp, type ReadQuestion, type ValueLookup } from './question.js'
import { type AnsweredValue, readAnswer } from './read-answer.js'
import { isTypeText } from './type-text.js'

/** The question, and the trust of the reader. */
export interface VerifyReadOptions extends AnswerOptions {
  readonly question: ReadQuestion
  /**
   * Reads modules that the types need, with their proofs. It is not needed for values without a type, and for primitive
   * types.
   */
  readonly readProof?: ReadProof | undefined
}

/** A value that is proven, or proven to be absent. */
export interface VerifiedRead extends VerifiedState {
  /** The bytes of the value in BCS; undefined if there is none. */
  readonly bytes: Uint8Array | undefined
  /** The value as compact JSON, decoded here; undefined if there is none, or if it has no JSON. */
  readonly json: string | undefined
  /**
   * The JSON of a new account, if the question was about an account and there is none: a node may answer it instead of
   * no value. It is no value of the state.
   */
  readonly impliedJson: string | undefined
}

/**
 * Verifies the answer of a read with `proof=true`. It checks three things: the ledger was signed by validators who
 * follow from the reader's trust; its state has the value for the requested key, or has none; and the answer matches
 * the decoded bytes.
 * @param answer the body of the answer: a JSON text, the result of `JSON.parse`, or bytes of BCS
 * @throws `untrusted`, `verification_failed`, `answer_differs`, `wrong_state_key`, `wrong_version`,
 *   `module_not_proven`, `invalid_answer`, and the errors of the question's types and key
 */
export async function verifyRead(answer: unknown, options: VerifyReadOptions): Promise<VerifiedRead> {
  const { question, version, readProof, hashSalt = DEFAULT_HASH_SALT } = options
  const { answered, proof } = readAnswer(answer)
  const hasher = new LedgerHasher(hashSalt)
  const { stateRoot, ledgerInfo } = checkStateProof(hasher, proof)
  const found = proof.checkpoint.version
  if (version !== undefined && found !== version) throw wrongVersion.ofProof(found, version)
  const signers = await checkSignatures(hasher, options, proof.epochEndings, ledgerInfo)
  const modules = new ProvenModules(hasher, { version: found, stateRoot }, readProof)
  const lookup = await modules.with((getModule) => lookUp(question, getModule))
  if (!isSameBytes(proof.stateKey, lookup.stateKey)) throw wrongStateKey(proof.stateKey, lookup.stateKey)
  const bytes = pickValue(question, lookup, proof.stateValue)
  const json = bytes && lookup.toJson(bytes)
  const implied = bytes ? undefined : impliedBy(question)
  if (isWhole(question, answered, bytes)) expectSameWhole(answered, proof.stateValue)
  else if (bytes) expectSameValue(question, answered, bytes, json)
  else expectNoValue(answered, implied)
  return { bytes, json, impliedJson: implied?.json, version: found, timestampUsec: ledgerInfo.timestampUsec, signers }
}

function pickValue(
  question: ReadQuestion,
  lookup: ValueLookup,
  stateValue: Uint8Array | undefined,
): Uint8Array | undefined {
  if (!stateValue) return undefined
  return question.kind === 'state_value' ? stateValue : lookup.pick(storedBytes(stateValue))
}

/**
 * Whether the answer to a question is a state value with its metadata; the answer for a module may be the module
 * itself.
 */
function isWhole({ kind }: ReadQuestion, answered: AnsweredValue, bytes: Uint8Array | undefined): boolean {
  if (kind !== 'module') return kind === 'state_value'
  return answered.kind === 'json' ? !isJsonObject(answered.value) : !isSameBytes(answered.value, bytes)
}

function expectSameWhole(answered: AnsweredValue, stateValue: Uint8Array | undefined): void {
  const proven = stateValue ? `"${bytesToHex(stateValue)}"` : 'null'
  if (answered.kind === 'bytes') {
    if (!isSameBytes(answered.value, stateValue)) throw answerDiffers(hexOf(stateValue), hexOf(answered.value))
    return
  }
  const said = jsonValueToText(answered.value)
  if (said !== proven) throw answerDiffers(stateValue ? proven : NONE, said)
}

/** Checks that the value next to a proof, which a careless reader would take, is the proven one. */
function expectSameValue(
  question: ReadQuestion,
  answered: AnsweredValue,
  bytes: Uint8Array,
  decoded: string | undefined,
): void {
  if (answered.kind === 'bytes') {
    if (!isSameBytes(answered.value, bytes)) throw answerDiffers(hexOf(bytes), hexOf(answered.value))
    return
  }
  const { value } = answered
  const json = question.kind === 'module' ? moduleToJson(bytes) : decoded
  const proven = json === undefined ? hexOf(bytes) : jsonValueToText(parseJson(json))
  const said = question.kind === 'resource' ? dataOf(value, question.type) : value
  const saidText = said === undefined ? undefined : jsonValueToText(said)
  if (json === undefined || saidText !== proven) throw answerDiffers(proven, saidText ?? jsonValueToText(value))
}

/** The JSON of a module in an answer: its code, and its ABI if it is readable. */
function moduleToJson(bytes: Uint8Array): string {
  return `{"bytecode":"${bytesToHex(bytes)}","abi":${JSON.stringify(abiOf(bytes) ?? null)}}`
}

function abiOf(bytes: Uint8Array): ModuleAbi | undefined {
  try {
    return moduleAbi(readModuleInterface(bytes))
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_module', 'type_too_large')) return undefined
    throw error
  }
}

/**
 * Checks that an answer has no value next to the proof that there is none, or exactly the implied one.
 * @param implied the value that the absence implies on some chains
 */
function expectNoValue(answered: AnsweredValue, implied: AccountAnswer | undefined): void {
  if (answered.kind === 'bytes') {
    const { value } = answered
    if (value !== undefined && !(implied && isSameBytes(value, implied.bytes))) throw answerDiffers(NONE, hexOf(value))
    return
  }
  const said = jsonValueToText(answered.value)
  if (said !== 'null' && said !== implied?.json) throw answerDiffers(NONE, said)
}

/** The value that a node may answer although the state has none. */
function impliedBy(question: ReadQuestion): AccountAnswer | undefined {
  return question.kind === 'account' ? impliedAccount(parseAddress(question.address)) : undefined
}

/** The data of a resource, if the answer is its type and its data, and the type is the requested one. */
function dataOf(value: JsonValue, type: string): JsonValue | undefined {
  if (!isJsonObject(value) || value.names().join() !== 'type,data') return undefined
  const said = value.get('type')
  return typeof said === 'string' && isTypeText(said, type) ? value.get('data') : undefined
}

const NONE = 'no value'

function hexOf(bytes: Uint8Array | undefined): string {
  return bytes ? bytesToHex(bytes) : NONE
}
