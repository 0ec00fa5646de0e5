import { jsonValueToText } from '@ledger-state/bcs'
import { ByteWriter, bytesToHexDigits, parseAddress } from '@ledger-state/core'
import { isSameBytes } from '@ledger-state/core/bytes'
import { pairedMetadataAddress, primaryStoreAddress } from '@ledger-state/proof'
import {
  coinStoreValue,
  parseStructTag,
  primaryStoreBalance,
  resourceGroupKey,
  resourceKey,
} from '@ledger-state/type-tag'
import type { AnswerOptions, VerifiedState } from './answer-options.js'
import { answerDiffers } from './errors.js'
import { connectNode, newestProvenVersion } from './node-connection.js'
import { openProvenValues } from './open-proven-values.js'
import type { AnsweredValue } from './read-answer.js'
import type { StateOptions } from './read-from-node.js'

/** A balance of an account. */
export interface BalanceQuestion {
  readonly address: string
  /** A coin type, or the address of the metadata of a fungible asset. */
  readonly asset: string
}

/** A balance of an account at a node. */
export interface VerifyBalanceOptions extends StateOptions, BalanceQuestion {}

/** The question, and the trust of the reader. */
export interface VerifyBalanceAnswerOptions extends AnswerOptions {
  readonly question: BalanceQuestion
}

/** A balance that is proven. */
export interface VerifiedBalance extends VerifiedState {
  /** The sum of both stores. */
  readonly balance: bigint
  /** Part in the coin store; undefined if the asset is no coin, or if it is proven that there is no such store. */
  readonly coinStore: bigint | undefined
  /** Part in the primary store; undefined if it is proven that there is no such store. */
  readonly primaryStore: bigint | undefined
}

const COIN_STORE = parseStructTag('0x1::coin::CoinStore')
const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')

/**
 * Asks a node for the balance of an account as `GET /accounts/{address}/balance/{asset_type}` defines it: for a coin its
 * coin store and the primary store of its fungible asset, for a fungible asset the primary store. Each store is proven,
 * present or absent.
 * @throws as `verifyBalanceAnswer`, and the errors of the arguments
 */
export async function verifyBalance(options: VerifyBalanceOptions): Promise<VerifiedBalance> {
  const { address, asset } = options
  keysOf({ address, asset })
  const node = connectNode(options)
  const { ask, trust } = node
  const version = options.version ?? (await newestProvenVersion(node))
  const path = `/accounts/${address}/balance/${encodeURIComponent(asset)}`
  const answer = await ask({ path: `${path}?ledger_version=${version}&proof=true&proof_from=${trust.waypoint}` })
  return await verifyBalanceAnswer(answer, { ...trust, question: { address, asset }, version })
}

/**
 * Verifies the answer of a balance with `proof=true`: the ledger was signed by validators who follow from the reader's
 * trust, its state has these stores or does not have them, and the answer is their sum.
 * @param answer the body of the answer: a JSON text, bytes of BCS, or the result of `JSON.parse`, which rounds balances
 *   above 2^53
 * @throws `untrusted`, `verification_failed`, `value_not_proven`, `answer_differs`, `wrong_version`, `invalid_answer`;
 *   `invalid_bcs` if a proven store has another form; the errors of the question
 */
export async function verifyBalanceAnswer(
  answer: unknown,
  options: VerifyBalanceAnswerOptions,
): Promise<VerifiedBalance> {
  const { owner, coinKey, storeKey } = keysOf(options.question)
  const { answered, state, verified } = await openProvenValues(answer, options)
  const [store, coins] = [state.get(storeKey), coinKey && state.get(coinKey)]
  const primaryStore = store && primaryStoreBalance(storeKey, store)
  const coinStore = coins && coinStoreValue(owner, coins)
  const balance = (coinStore ?? 0n) + (primaryStore ?? 0n)
  expectSameBalance(answered, balance)
  return { balance, coinStore, primaryStore, ...verified }
}

/** Checks that the balance next to a proof, which a careless reader would take, is the proven one. */
function expectSameBalance(answered: AnsweredValue, balance: bigint): void {
  if (answered.kind === 'json') {
    const said = jsonValueToText(answered.value)
    if (said !== String(balance)) throw answerDiffers(String(balance), said)
    return
  }
  // A sum of two stores may have more than 64 bits; no answer has.
  const isWritable = balance < 2n ** 64n
  if (isWritable && isSameBytes(answered.value, new ByteWriter().u64(balance).toBytes())) return
  throw answerDiffers(String(balance), `0x${bytesToHexDigits(answered.value!)}`)
}

/** State keys of the coin store, if the asset is a coin, and of the resource group of the primary store. */
function keysOf({ address, asset }: BalanceQuestion) {
  const owner = parseAddress(address)
  const coin = asset.includes('::') ? parseStructTag(asset) : undefined
  const metadata = coin ? pairedMetadataAddress(coin) : parseAddress(asset)
  return {
    owner,
    coinKey: coin && resourceKey(owner, { ...COIN_STORE, typeArguments: [coin] }),
    storeKey: resourceGroupKey(primaryStoreAddress(owner, metadata), OBJECT_GROUP),
  }
}
