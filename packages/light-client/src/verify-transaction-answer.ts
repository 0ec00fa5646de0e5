import { isJsonObject, type JsonValue, jsonValueToText } from '@ledger-state/bcs'
import { addressToShortHex, ByteReader, ByteWriter, bytesToHex, parseAddress } from '@ledger-state/core'
import { isSameBytes } from '@ledger-state/core/bytes'
import {
  AccumulatorFrontier,
  type CheckedInfo,
  checkEventProof,
  checkTransactionProof,
  DEFAULT_HASH_SALT,
  type InfoProof,
  jsonToEventProof,
  jsonToTransactionProof,
  LedgerHasher,
  readEventProof,
  readTransactionProof,
  type TransactionProof,
} from '@ledger-state/proof'
import {
  type ContractEvent,
  readBcsList,
  readEvent,
  readExecution,
  readTransaction,
} from '@ledger-state/proof/transactions'
import { parseTypeTag, typeTagToText } from '@ledger-state/type-tag'
import { checkSignatures, type Signers, type Trust } from './check-signatures.js'
import { answerDiffers, invalidOption, wrongEvent, wrongTransaction, wrongVersion } from './errors.js'
import { type AnsweredValue, readProvenParts } from './read-answer.js'
import { isTypeText } from './type-text.js'

/** The question about a transaction, and the trust of the reader. */
export interface VerifyTransactionAnswerOptions extends Trust {
  /** Version that was asked for; by default any. */
  readonly version?: bigint | undefined
  /** Hash that was asked for, 32 bytes; by default any. */
  readonly hash?: Uint8Array | undefined
  /** Word before the name of each hash, `APTOS::` by default. */
  readonly hashSalt?: string | undefined
}

/** Parts that the proofs of a transaction and of an event show. */
export interface VerifiedPlace {
  readonly version: bigint
  /** BCS of the transaction info: gas, status and hashes. */
  readonly info: Uint8Array
  /** Whether the transaction succeeded. */
  readonly isSuccess: boolean
  /** Hash of the transaction. */
  readonly hash: Uint8Array
  /** Time of the signed ledger info, in microseconds since 1970. The transaction is not younger. */
  readonly timestampUsec: bigint
  /** Who signed the ledger info. */
  readonly signers: Signers
}

/** A transaction that is proven. */
export interface VerifiedTransaction extends VerifiedPlace {
  /** BCS of the transaction; `readTransaction` of `@ledger-state/proof/transactions` decodes it. */
  readonly transaction: Uint8Array
  /** Its events. */
  readonly events: readonly ContractEvent[]
  /** BCS of its write set; undefined if the answer is JSON, which does not have it. */
  readonly writeSet: Uint8Array | undefined
}

/** An event that is asked for: one of a stream, or one of a type. Addresses and types are texts. */
export type EventQuestion =
  | {
      readonly kind: 'stream'
      readonly address: string
      readonly creationNumber: bigint
      /** Number of the event in its stream; by default any. */
      readonly sequenceNumber?: bigint | undefined
    }
  | { readonly kind: 'type'; readonly type: string }

/** The question about an event, and the trust of the reader. */
export interface VerifyEventAnswerOptions extends Omit<VerifyTransactionAnswerOptions, 'hash'> {
  readonly question: EventQuestion
}

/** An event that is proven. */
export interface VerifiedEvent extends VerifiedPlace {
  readonly event: ContractEvent
  /** Place of the event among the events of its transaction. */
  readonly index: number
}

/**
 * Verifies the answer about a transaction with `proof=true`: validators who follow from the reader's trust signed a
 * ledger that has this transaction, with these events, at this version.
 * @param answer the body of the answer: a JSON text, the result of `JSON.parse`, or bytes of BCS
 * @throws `untrusted`, `verification_failed`, `answer_differs`, `wrong_version`, `wrong_transaction`, `invalid_answer`
 */
export async function verifyTransactionAnswer(
  answer: unknown,
  options: VerifyTransactionAnswerOptions,
): Promise<VerifiedTransaction> {
  const { version, hash, hashSalt = DEFAULT_HASH_SALT } = options
  const { answered, proof } = readProvenParts(answer, {
    readBcs: readTransactionProof,
    fromJson: jsonToTransactionProof,
  })
  const hasher = new LedgerHasher(hashSalt)
  const checked = checkTransactionProof(hasher, proof)
  expectVersion(proof.infoProof, version)
  const found = checked.info.transactionHash
  if (hash && !isSameBytes(found, hash)) throw wrongTransaction(found, hash)
  const place = await placeOf(hasher, options, proof, checked)
  const { transaction, infoProof } = proof
  const events = [...readBcsList(new ByteReader(proof.events), readEvent)]
  const root = rootAt(hasher, infoProof)
  let writeSet: Uint8Array | undefined
  if (answered.kind === 'bytes') writeSet = writeSetOf(hasher, answered.value!, { proof, checked, root })
  else expectMembers(answered.value, provenMembers(proof, checked, root), events)
  return { ...place, transaction, events, writeSet }
}

/**
 * Verifies one item of an answer about events with `proof=true`: validators who follow from the reader's trust signed a
 * ledger with a transaction that has this event. Nothing shows that there are no other events.
 * @param answer the item: a JSON text, the result of `JSON.parse`, or bytes of BCS
 * @throws `untrusted`, `verification_failed`, `answer_differs`, `wrong_version`, `wrong_event`, `invalid_answer`
 */
export async function verifyEventAnswer(answer: unknown, options: VerifyEventAnswerOptions): Promise<VerifiedEvent> {
  const { question, version, hashSalt = DEFAULT_HASH_SALT } = options
  if (question?.kind !== 'type' && question?.kind !== 'stream') throw invalidOption.unknownKind(question)
  const { answered, proof } = readProvenParts(answer, { readBcs: readEventProof, fromJson: jsonToEventProof })
  const hasher = new LedgerHasher(hashSalt)
  const checked = checkEventProof(hasher, proof)
  expectVersion(proof.infoProof, version)
  const event = readEvent(new ByteReader(proof.event))
  if (!isAskedFor(event, question)) throw wrongEvent(proof.infoProof.version, proof.index)
  const place = await placeOf(hasher, options, proof, checked)
  expectSameEvent(answered, place.version, proof.event, event)
  return { ...place, event, index: proof.index }
}

function expectVersion({ version: found }: InfoProof, asked: bigint | undefined): void {
  if (asked !== undefined && found !== asked) throw wrongVersion.ofProof(found, asked)
}

function isAskedFor({ key, type }: ContractEvent, question: EventQuestion): boolean {
  if (question.kind === 'type') return typeTagToText(type) === typeTagToText(parseTypeTag(question.type))
  const { address, creationNumber, sequenceNumber } = question
  if (!key || !isSameAddress(key.address, address) || key.creationNumber !== creationNumber) return false
  return sequenceNumber === undefined || key.sequenceNumber === sequenceNumber
}

function isSameAddress(found: Uint8Array, asked: string): boolean {
  return isSameBytes(found, parseAddress(asked))
}

async function placeOf(
  hasher: LedgerHasher,
  trust: Trust,
  { infoProof, epochEndings }: Pick<TransactionProof, 'infoProof' | 'epochEndings'>,
  { info, ledgerInfo }: CheckedInfo,
): Promise<VerifiedPlace> {
  const signers = await checkSignatures(hasher, trust, epochEndings, ledgerInfo)
  const { transactionInfo, version } = infoProof
  const isSuccess = readExecution(transactionInfo).status.kind === 'success'
  const { timestampUsec } = ledgerInfo
  return { version, info: transactionInfo, isSuccess, hash: info.transactionHash, timestampUsec, signers }
}

/** Root of the accumulator whose last leaf is the version: the path has all subtrees to its left. */
function rootAt(hasher: LedgerHasher, { version, transactionInfo, siblings }: InfoProof): Uint8Array {
  const left = siblings.filter((_, level) => (version >> BigInt(level)) % 2n === 1n)
  const frontier = AccumulatorFrontier.fromSubtrees(hasher, 'TransactionAccumulator', Number(version), left)!
  frontier.append(hasher.hash('TransactionInfo', transactionInfo))
  return frontier.root()
}

interface Proven {
  readonly proof: TransactionProof
  readonly checked: CheckedInfo
  readonly root: Uint8Array
}

/** Checks an answer in BCS, where everything is proven, and returns its write set. */
function writeSetOf(hasher: LedgerHasher, value: Uint8Array, { proof, checked, root }: Proven): Uint8Array {
  const { transaction, events, infoProof } = proof
  const writer = new ByteWriter().u8(COMMITTED).u64(infoProof.version).bytes(transaction)
  const expected = writer.bytes(infoProof.transactionInfo).bytes(events).bytes(root).toBytes()
  const found = value.subarray(0, expected.length)
  if (!isSameBytes(found, expected)) throw answerDiffers(bytesToHex(expected), bytesToHex(found))
  const writeSet = value.subarray(expected.length)
  hasher.expectHash('the state change hash', 'WriteSet', writeSet, checked.info.stateChangeHash)
  return writeSet
}

/** Variant of a committed transaction in BCS answers. */
const COMMITTED = 0

/** The members of a transaction's JSON that follow from its proof, without modules. */
function provenMembers(
  { transaction: bytes, infoProof }: TransactionProof,
  { info }: CheckedInfo,
  root: Uint8Array,
): Readonly<Record<string, string | boolean | null>> {
  const { gasUsed, status } = readExecution(infoProof.transactionInfo)
  const transaction = readTransaction(new ByteReader(bytes))
  return {
    version: String(infoProof.version),
    hash: bytesToHex(info.transactionHash),
    state_change_hash: bytesToHex(info.stateChangeHash),
    event_root_hash: bytesToHex(info.eventRoot),
    state_checkpoint_hash: info.stateRoot ? bytesToHex(info.stateRoot) : null,
    gas_used: String(gasUsed),
    success: status.kind === 'success',
    accumulator_root_hash: bytesToHex(root),
    type: `${transaction.kind}_transaction`,
    ...(transaction.kind === 'user' && {
      sender: addressToShortHex(transaction.sender),
      sequence_number: String(transaction.sequenceNumber),
      max_gas_amount: String(transaction.maxGas),
      gas_unit_price: String(transaction.gasUnitPrice),
      expiration_timestamp_secs: String(transaction.expirationSeconds),
    }),
  }
}

/** Types of transactions without events in JSON. */
const KINDS_WITHOUT_EVENTS: readonly unknown[] = ['state_checkpoint_transaction', 'block_epilogue_transaction']

function expectMembers(
  value: JsonValue,
  members: Readonly<Record<string, string | boolean | null>>,
  events: readonly ContractEvent[],
): void {
  for (const [name, proven] of Object.entries(members)) expectMember(value, name, proven)
  const said = isJsonObject(value) ? value.get('events') : undefined
  if (said === undefined && KINDS_WITHOUT_EVENTS.includes(members.type)) return
  if (!Array.isArray(said) || said.length !== events.length) {
    throw answerDiffers(`${events.length} events`, Array.isArray(said) ? `${said.length} events` : 'no list of events')
  }
  for (const [at, event] of events.entries()) expectEventMembers(said[at], event)
}

function expectSameEvent(answered: AnsweredValue, version: bigint, bytes: Uint8Array, event: ContractEvent): void {
  if (answered.kind === 'json') {
    expectMember(answered.value, 'version', String(version))
    expectEventMembers(answered.value, event)
    return
  }
  const expected = new ByteWriter().u64(version).bytes(bytes).toBytes()
  if (!isSameBytes(answered.value, expected)) throw answerDiffers(bytesToHex(expected), bytesToHex(answered.value!))
}

/** The key that is shown of a module event, which has none. */
const NO_KEY = { creationNumber: 0n, address: new Uint8Array(32), sequenceNumber: 0n }

/** Checks the members of an event that follow from its bytes without modules: all but `data`. */
function expectEventMembers(value: JsonValue | undefined, { key, type }: ContractEvent): void {
  const { creationNumber, address, sequenceNumber } = key ?? NO_KEY
  const guid = isJsonObject(value) ? value.get('guid') : undefined
  expectMember(guid, 'creation_number', String(creationNumber))
  expectMember(guid, 'account_address', addressToShortHex(address))
  expectMember(value, 'sequence_number', String(sequenceNumber))
  const said = isJsonObject(value) ? value.get('type') : undefined
  const text = typeTagToText(type)
  if (typeof said !== 'string' || !isTypeText(said, text)) throw answerDiffers(text, textOf(said))
}

function expectMember(value: JsonValue | undefined, name: string, proven: string | boolean | null): void {
  const said = isJsonObject(value) ? value.get(name) : undefined
  if (said !== proven) throw answerDiffers(`${name} ${JSON.stringify(proven)}`, textOf(said))
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : jsonValueToText(value)
}
