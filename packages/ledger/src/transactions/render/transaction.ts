import { addressToShortHex, ByteReader, bytesToHex, type Steps } from '@ledger-state/core'
import { readTransactionInfo } from '@ledger-state/proof'
import {
  type BlockEpilogue,
  type BlockMetadata,
  type ContractEvent,
  type Payload,
  readBcsList,
  readEvent,
  readExecution,
  readTransaction,
  type UserTransaction,
  type WriteSetPayload,
} from '@ledger-state/proof/transactions'
import { transactionUnreadable } from '../../errors.js'
import { changesToJson } from './changes.js'
import { eventToJson } from './events.js'
import { payloadToJson } from './payload.js'
import { hexText, jsonList, jsonListInSteps, type RenderContext } from './render-context.js'
import { signatureToJson } from './signature.js'
import { validatorMembers } from './validator.js'
import { vmStatusToText } from './vm-status.js'

/** Everything that a ledger has of the transaction that made a version, each part in BCS. */
export interface CompleteTransaction {
  readonly transaction: Uint8Array
  /** The TransactionInfo. */
  readonly info: Uint8Array
  /** The vector of events. */
  readonly events: Uint8Array
  readonly writeSet: Uint8Array
  /** Index of the transaction in its proposed block; undefined if it is not known. */
  readonly indexInBlock: number | undefined
  /** Root of the ledger's accumulator with this version. */
  readonly accumulatorRoot: Uint8Array
}

/** A transaction with its version and the time of its block, in microseconds since 1970. */
export interface TimedTransaction {
  readonly version: bigint
  readonly whole: CompleteTransaction
  readonly timestampUsec: bigint
}

/**
 * A transaction as JSON, with members in the order of the reference.
 * @throws `stored_data_invalid` for a kind of transaction, payload or authenticator that is not known
 */
export function* transactionToJson(context: RenderContext, timed: TimedTransaction): Steps<string> {
  try {
    return yield* render(context, timed)
  } catch (error) {
    throw transactionUnreadable(timed.version, error)
  }
}

function* render(context: RenderContext, timed: TimedTransaction): Steps<string> {
  const { version, whole, timestampUsec } = timed
  const transaction = readTransaction(new ByteReader(whole.transaction))
  const changes = yield* changesToJson(context, whole.writeSet)
  yield
  const info = infoMembers(context, timed, changes)
  const timestamp = `"timestamp":"${timestampUsec}"`
  const events = `"events":${yield* eventsToJson(context, whole)}`
  yield
  switch (transaction.kind) {
    case 'user':
      return `{${info},${userMembers(context, version, transaction)},${events},${timestamp},"type":"user_transaction"}`
    case 'genesis': {
      const payload = genesisPayload(context, version, transaction.payload, changes)
      return `{${info},"payload":${payload},${events},"type":"genesis_transaction"}`
    }
    case 'block_metadata':
      return `{${info},${metadataMembers(transaction, events)},"type":"block_metadata_transaction"}`
    case 'state_checkpoint':
      return `{${info},${timestamp},"type":"state_checkpoint_transaction"}`
    case 'block_epilogue':
      return `{${info},${timestamp},${epilogueMembers(transaction)},"type":"block_epilogue_transaction"}`
    default:
      return `{${info},${events},${timestamp},${validatorMembers(transaction.validator)},"type":"validator_transaction"}`
  }
}

function infoMembers(
  context: RenderContext,
  { version, whole: { info, accumulatorRoot } }: TimedTransaction,
  changes: string,
): string {
  const { transactionHash, stateChangeHash, eventRoot, stateRoot } = readTransactionInfo(new ByteReader(info))
  const { gasUsed, status } = readExecution(info)
  const short = [
    `"version":"${version}"`,
    `"hash":${hexText(transactionHash)}`,
    `"state_change_hash":${hexText(stateChangeHash)}`,
    `"event_root_hash":${hexText(eventRoot)}`,
    `"state_checkpoint_hash":${stateRoot ? hexText(stateRoot) : 'null'}`,
    `"gas_used":"${gasUsed}"`,
    `"success":${status.kind === 'success'}`,
    `"vm_status":${JSON.stringify(vmStatusToText(context, status))}`,
    `"accumulator_root_hash":${hexText(accumulatorRoot)}`,
  ]
  // The changes may be long, so they are not copied.
  return `${short.join(',')},"changes":${changes}`
}

function userMembers(context: RenderContext, version: bigint, transaction: UserTransaction): string {
  const { sender, sequenceNumber, maxGas, gasUnitPrice, expirationSeconds, payload, authenticator } = transaction
  const payloadJson = payloadToJson(context, payload)
  if (payloadJson === undefined) throw transactionUnreadable(version, `a payload of the kind ${kindOfPayload(payload)}`)
  const nonce = nonceOf(payload)
  return [
    `"sender":"${addressToShortHex(sender)}"`,
    `"sequence_number":"${sequenceNumber}"`,
    `"max_gas_amount":"${maxGas}"`,
    `"gas_unit_price":"${gasUnitPrice}"`,
    `"expiration_timestamp_secs":"${expirationSeconds}"`,
    `"payload":${payloadJson}`,
    `"signature":${signatureToJson(authenticator)}`,
    `"replay_protection_nonce":${nonce === undefined ? 'null' : `"${nonce}"`}`,
  ].join(',')
}

function kindOfPayload(payload: Payload): string {
  return payload.kind === 'versioned' ? `${payload.executable.kind} in a versioned payload` : payload.kind
}

/** The nonce of a payload; undefined if the transaction has a sequence number. */
function nonceOf(payload: Payload): bigint | undefined {
  return payload.kind === 'versioned' || payload.kind === 'encrypted' ? payload.extraConfig.nonce : undefined
}

function genesisPayload(context: RenderContext, version: bigint, payload: WriteSetPayload, changes: string): string {
  if (payload.kind === 'script') throw transactionUnreadable(version, 'a genesis with a script')
  const events = jsonList(Array.from(payload.events, (event) => eventToJson(context, event)))
  const writeSet = `{"changes":${changes},"events":${events},"type":"direct_write_set"}`
  return `{"write_set":${writeSet},"type":"write_set_payload"}`
}

function metadataMembers(metadata: BlockMetadata, events: string): string {
  const { id, epoch, round, previousVotes, proposer, failedProposers, timestampUsec, extension } = metadata
  const members = [
    `"id":${hexText(id)}`,
    `"epoch":"${epoch}"`,
    `"round":"${round}"`,
    events,
    `"previous_block_votes_bitvec":[${previousVotes.join(',')}]`,
    `"proposer":"${addressToShortHex(proposer)}"`,
    `"failed_proposer_indices":[${[...failedProposers].join(',')}]`,
    `"timestamp":"${timestampUsec}"`,
  ]
  if (extension?.variant === 0) members.push('"block_metadata_extension":{"type":"v0"}')
  if (extension?.variant === 1) {
    const { randomness } = extension
    const bytes = randomness ? `"${bytesToHex(randomness.bytes)}"` : 'null'
    members.push(`"block_metadata_extension":{"randomness":${bytes},"type":"v1"}`)
  }
  return members.join(',')
}

function epilogueMembers(epilogue: BlockEpilogue): string {
  const { gasLimitReached, outputLimitReached, effectiveGasUnits, approximateOutputSize } = epilogue
  const end = `"block_gas_limit_reached":${gasLimitReached},"block_output_limit_reached":${outputLimitReached},"block_effective_block_gas_units":${effectiveGasUnits},"block_approx_output_size":${approximateOutputSize}`
  return `"block_end_info":{${end}}`
}

function* eventsToJson(context: RenderContext, whole: CompleteTransaction): Steps<string> {
  const texts: string[] = []
  for (const event of eventsOf(whole)) {
    yield
    texts.push(eventToJson(context, event))
  }
  return yield* jsonListInSteps(texts)
}

/** The events of a transaction. @throws `invalid_bcs` */
function eventsOf({ events }: Pick<CompleteTransaction, 'events'>): Iterable<ContractEvent> {
  return readBcsList(new ByteReader(events), readEvent)
}
