import { engineToAsync } from '@ledger-state/engine'
import { createRequestListener } from '@ledger-state/http'
import { createProvenLedger, type ProvenLedger, waypointOf } from '@ledger-state/http/testing/proven-ledger'
import { createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import {
  joinValues,
  jsonToValuesProof,
  LedgerHasher,
  type ProvenValue,
  type ValuesProofJson,
  valuesProofToJson,
} from '@ledger-state/proof'
import { encodeStateValue, moduleKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APT, coinStoreOf, HOLDER_WRITES, HOLDERS, primaryStoreOf } from '../testing/asset-writes.ts'
import { rememberingBls } from '../testing/remembering-bls.ts'
import { type BalanceQuestion, verifyBalanceAnswer } from './verify-balance.js'

interface ProvenAnswer {
  readonly value: unknown
  readonly proof: ValuesProofJson
}

const bls = rememberingBls()
const hasher = new LedgerHasher()
const waypoint = waypointOf(1)
const BOTH = { address: '0xb07', asset: APT }

let made: ProvenLedger
/** A ledger in which the account has other balances. */
let other: ProvenLedger
beforeAll(async () => {
  made = await createProvenLedger({ further: HOLDER_WRITES })
  other = await createProvenLedger({ further: [coinStoreOf('0xb07', 6n), primaryStoreOf('0xb07', 8n)] })
})
afterAll(() => {
  made.close()
  other.close()
})

const verify = async (answer: unknown, question: BalanceQuestion = BOTH, further: object = {}) =>
  await verifyBalanceAnswer(answer, { question, waypoint, bls, ...further })

async function ask(
  { proofs }: ProvenLedger,
  ledger: Ledger | ReturnType<typeof createAsyncLedger>,
  { address, asset }: BalanceQuestion,
  accept = 'application/json',
) {
  const listener = createRequestListener({ ledger, proofs, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
  const url = `/v1/accounts/${address}/balance/${asset}?ledger_version=41&proof=true&proof_from=${waypoint}`
  const answer = await inject(listener, { method: 'GET', url, headers: { accept } })
  expect([answer.statusCode, answer.body]).toEqual([200, expect.any(String)])
  return answer
}

async function answerOf(from: ProvenLedger, question: BalanceQuestion = BOTH): Promise<ProvenAnswer> {
  return JSON.parse((await ask(from, createLedger(from.engine), question)).body) as ProvenAnswer
}

/** An answer with a proof that is made of other values, with the paths of the tree. */
function forge({ value, proof }: ProvenAnswer, change: (values: readonly ProvenValue[]) => readonly ProvenValue[]) {
  const { values, epochEndings } = jsonToValuesProof(proof)
  const proven = change(values).map((one) => ({ ...one, path: made.tree.pathOf(one.stateKey) }))
  return {
    value,
    proof: valuesProofToJson({ ...joinValues(hasher, made.tree.checkpoint, proven), epochEndings }),
  }
}

describe('a balance with its proof', () => {
  it('is the sum of both stores, there or not, from stores of both kinds and in both formats, again and again', async () => {
    for (let round = 0; round < 2; round++) {
      for (const ledger of [createLedger(made.engine), createAsyncLedger(engineToAsync(made.engine))]) {
        for (const { address, coinStore, primaryStore } of HOLDERS) {
          for (const accept of ['application/json', 'application/x-bcs']) {
            const question = { address, asset: APT }
            const { body, rawPayload } = await ask(made, ledger, question, accept)
            const answer = accept.endsWith('json') ? body : new Uint8Array(rawPayload)
            const balance = (coinStore ?? 0n) + (primaryStore ?? 0n)
            const found = await verify(answer, question, { version: 41n })
            expect(found).toMatchObject({ balance, coinStore, primaryStore, version: 41n })
            expect(found.signers).toMatchObject({ count: { signed: 4 } })
          }
        }
      }
    }
    const asset = '0xa'
    const { proof, value } = await answerOf(made, { address: '0xb07', asset })
    expect([value, proof.values]).toMatchObject([7, { length: 1 }])
    expect(await verify({ value, proof }, { address: '0xb07', asset })).toMatchObject({ balance: 7n })
  })

  it('is refused without either store, with one changed, absent although it is there, or there although it is absent', async () => {
    for (const { address } of HOLDERS) {
      const question = { address, asset: APT }
      const honest = await answerOf(made, question)
      for (const left of honest.proof.values) {
        const lacking = forge(honest, (all) => all.filter(({ stateKey }) => hexOf(stateKey) !== left.state_key))
        await expect(verify(lacking, question)).rejects.toMatchObject({ code: 'value_not_proven' })
        const one = encodeStateValue({ value: Uint8Array.of(1), metadata: undefined })
        const stateValues = left.state_value
          ? [null, left.state_value.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))]
          : [hexOf(one)]
        for (const state_value of stateValues) {
          const values = honest.proof.values.map((value) => (value === left ? { ...value, state_value } : value))
          const forged = { ...honest, proof: { ...honest.proof, values } }
          await expect(verify(forged, question)).rejects.toMatchObject({ code: 'verification_failed' })
        }
      }
      const stateKey = moduleKey(new Uint8Array(32), 'none')
      const more = forge(honest, (all) => [...all, { stateKey, stateValue: undefined }])
      // JSON.parse has rounded a balance above 2^53.
      if (address === '0xc01') await expect(verify(more, question)).rejects.toMatchObject({ code: 'answer_differs' })
      else expect(await verify(more, question)).toEqual(await verify(honest, question))
    }
  })

  it('is refused with stores of another state or of another account', async () => {
    const [honest, elsewhere] = [await answerOf(made), await answerOf(other)]
    expect([honest.value, elsewhere.value]).toEqual([12, 14])
    for (const [at, store] of elsewhere.proof.values.entries()) {
      const values = honest.proof.values.map((one, place) => (place === at ? store : one))
      const forged = { value: 13, proof: { ...honest.proof, values } }
      await expect(verify(forged)).rejects.toMatchObject({ code: 'verification_failed' })
    }
    for (const name of ['transaction_info', 'ledger_info'] as const) {
      const forged = { ...honest, proof: { ...honest.proof, [name]: elsewhere.proof[name] } }
      await expect(verify(forged)).rejects.toMatchObject({ code: 'verification_failed' })
    }
    const stranger = await answerOf(made, { address: '0xfa', asset: APT })
    await expect(verify(stranger)).rejects.toMatchObject({ code: 'value_not_proven' })
  })

  it('is refused with another sum, of another version, for another asset, and for another trust', async () => {
    const honest = await answerOf(made)
    for (const value of [13, '12', 12.5, -12, null, [12], {}]) {
      await expect(verify({ ...honest, value })).rejects.toMatchObject({ code: 'answer_differs' })
    }
    await expect(verify(honest, BOTH, { version: 40n })).rejects.toMatchObject({ code: 'wrong_version' })
    await expect(verify(honest, { ...BOTH, asset: '0xb' })).rejects.toMatchObject({ code: 'value_not_proven' })
    await expect(verify(honest, { ...BOTH, asset: '0x1::a::B' })).rejects.toMatchObject({ code: 'value_not_proven' })
    const asFungible = await verify({ ...honest, value: 7 }, { ...BOTH, asset: '0xa' })
    expect(asFungible).toMatchObject({ balance: 7n, coinStore: undefined })
    const trust = { waypoint: waypoint.replace(/.{4}$/, '0000') }
    await expect(verify(honest, BOTH, trust)).rejects.toMatchObject({ code: 'untrusted' })
    const bytes = new Uint8Array((await ask(made, createLedger(made.engine), BOTH, 'application/x-bcs')).rawPayload)
    for (let at = 0; at < bytes.length; at += 97) {
      const changed = Uint8Array.from(bytes, (byte, place) => (place === at ? byte ^ 1 : byte))
      const found = await verify(changed).catch((error: Error) => error)
      // Some bytes of a waypoint's ledger info prove nothing.
      if (!(found instanceof Error)) expect(found).toMatchObject({ balance: 12n, coinStore: 5n, primaryStore: 7n })
    }
  })
})

function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
