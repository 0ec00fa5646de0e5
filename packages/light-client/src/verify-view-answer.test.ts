import { engineToAsync } from '@ledger-state/engine'
import { createRequestListener } from '@ledger-state/http'
import { createProvenLedger, type ProvenLedger, waypointOf } from '@ledger-state/http/testing/proven-ledger'
import { createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import { LIBRARIES, PROGRAM } from '@ledger-state/ledger/testing/view-ledger'
import {
  joinValues,
  jsonToValuesProof,
  LedgerHasher,
  type ProvenValue,
  type ValuesProof,
  type ValuesProofJson,
  valuesProofToJson,
} from '@ledger-state/proof'
import { encodeStateValue, moduleKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rememberingBls } from '../testing/remembering-bls.ts'
import { VIEW_WRITES } from '../testing/serve-ledgers.ts'
import { type ViewQuestion, verifyViewAnswer } from './verify-view-answer.js'

interface ProvenAnswer {
  readonly value: readonly unknown[]
  readonly proof: ValuesProofJson
}

const bls = rememberingBls()
const hasher = new LedgerHasher()
const waypoint = waypointOf(1)
const EITHER: ViewQuestion = { function: '0x42::main::either', arguments: ['0xa1', '0xa2'] }

let made: ProvenLedger
/** The same ledger, but for the library, which is another one. */
let other: ProvenLedger
beforeAll(async () => {
  made = await createProvenLedger({ further: VIEW_WRITES })
  const library = [moduleKey(PROGRAM, 'lib'), LIBRARIES[1]!] as const
  other = await createProvenLedger({ further: [...VIEW_WRITES.slice(0, 4), library, ...VIEW_WRITES.slice(5)] })
})
afterAll(() => {
  made.close()
  other.close()
})

const verify = async (answer: unknown, question: ViewQuestion = EITHER, further: object = {}) =>
  await verifyViewAnswer(answer, { question, waypoint, bls, ...further })

async function ask(
  { proofs }: ProvenLedger,
  ledger: Ledger | ReturnType<typeof createAsyncLedger>,
  question: ViewQuestion,
  accept: string,
  query = '',
) {
  const listener = createRequestListener({ ledger, proofs, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
  return await inject(listener, {
    method: 'POST',
    url: `/v1/view?ledger_version=41&proof=true&proof_from=${waypoint}${query}`,
    headers: { accept, 'content-type': 'application/json' },
    payload: {
      function: question.function,
      type_arguments: question.typeArguments ?? [],
      arguments: question.arguments ?? [],
    },
  })
}

async function answerOf(from: ProvenLedger, question: ViewQuestion = EITHER): Promise<ProvenAnswer> {
  const { statusCode, body } = await ask(from, createLedger(from.engine), question, 'application/json')
  expect([statusCode, body]).toEqual([200, expect.any(String)])
  return JSON.parse(body) as ProvenAnswer
}

/** An answer with a proof that is made of other values, with the paths of a tree. */
function forge(
  { value, proof }: ProvenAnswer,
  change: (values: readonly ProvenValue[]) => readonly ProvenValue[],
  { tree }: ProvenLedger = made,
): ProvenAnswer {
  const { values, epochEndings } = jsonToValuesProof(proof)
  const proven = change(values).map((one) => ({ ...one, path: tree.pathOf(one.stateKey) }))
  const forged: ValuesProof = { ...joinValues(hasher, tree.checkpoint, proven), epochEndings }
  return { value, proof: valuesProofToJson(forged) }
}

describe('a view with its proof', () => {
  it('is run here, over proven values, from stores of both kinds and in both formats, again and again', async () => {
    const ledgers = [createLedger(made.engine), createAsyncLedger(engineToAsync(made.engine))]
    for (let round = 0; round < 3; round++) {
      for (const ledger of ledgers) {
        for (const accept of ['application/json', 'application/x-bcs']) {
          const { statusCode, body, rawPayload } = await ask(made, ledger, EITHER, accept)
          expect([statusCode, body]).toEqual([200, expect.any(String)])
          const found = await verify(accept.endsWith('json') ? body : new Uint8Array(rawPayload), EITHER, {
            version: 41n,
          })
          expect(found).toMatchObject({ results: [{ json: '"44"' }], version: 41n, signers: { count: { signed: 4 } } })
          // Both modules, both values, and the settings of the chain.
          expect(found.provenCount).toBeGreaterThanOrEqual(4)
        }
      }
    }
  })

  it('has the same proof after other views ran, which filled the caches', async () => {
    const ledger = createLedger(made.engine)
    const first = (await ask(made, ledger, EITHER, 'application/json')).body
    for (const name of ['value', 'holds']) {
      await ask(made, ledger, { function: `0x42::main::${name}`, arguments: ['0xa1'] }, 'application/json')
    }
    expect((await ask(made, ledger, EITHER, 'application/json')).body).toBe(first)
  })

  it('is accepted if it has more values than the view reads, and not if it lacks one', async () => {
    const honest = await answerOf(made)
    const { values } = jsonToValuesProof(honest.proof)
    const further = moduleKey(PROGRAM, 'nothing')
    const more = forge(honest, (all) => [...all, { stateKey: further, stateValue: undefined }])
    expect(await verify(more)).toMatchObject({ results: [{ json: '"44"' }] })
    for (const left of values) {
      const forged = forge(honest, (all) => all.filter(({ stateKey }) => !isSame(stateKey, left.stateKey)))
      await expect(verify(forged)).rejects.toMatchObject({ code: 'value_not_proven' })
    }
  })

  it('is refused with any value changed, absent although it is there, or there although it is absent', async () => {
    const honest = await answerOf(made)
    const { values } = jsonToValuesProof(honest.proof)
    for (const target of values) {
      const stateValues = [
        target.stateValue ? undefined : encodeStateValue({ value: Uint8Array.of(1), metadata: undefined }),
        ...(target.stateValue ? [Uint8Array.from(target.stateValue, (byte, at) => (at === 3 ? byte ^ 1 : byte))] : []),
      ]
      for (const stateValue of stateValues) {
        const changed = honest.proof.values.map((one) =>
          one.state_key === hexOf(target.stateKey)
            ? { ...one, state_value: stateValue ? hexOf(stateValue) : null }
            : one,
        )
        const forged = { ...honest, proof: { ...honest.proof, values: changed } }
        await expect(verify(forged)).rejects.toMatchObject({ code: 'verification_failed' })
      }
    }
  })

  it('is refused with a module or with values of another state', async () => {
    const honest = await answerOf(made)
    const elsewhere = await answerOf(other)
    expect(elsewhere.value).toEqual(['7'])
    // The whole proof of the other state, with the results of this one.
    await expect(verify({ ...elsewhere, value: honest.value })).rejects.toMatchObject({ code: 'answer_differs' })
    // The module of the other state within the proof of this one, with the paths of either.
    const key = hexOf(moduleKey(PROGRAM, 'lib'))
    const module = elsewhere.proof.values.find((one) => one.state_key === key)!
    const values = honest.proof.values.map((one) => (one.state_key === key ? module : one))
    for (const base of [honest, elsewhere]) {
      const forged = {
        value: elsewhere.value,
        proof: { ...base.proof, values: base === honest ? values : honest.proof.values },
      }
      await expect(verify(forged)).rejects.toMatchObject({ code: 'verification_failed' })
    }
    for (const name of ['transaction_info', 'ledger_info'] as const) {
      const forged = { ...honest, proof: { ...honest.proof, [name]: elsewhere.proof[name] } }
      await expect(verify(forged)).rejects.toMatchObject({ code: 'verification_failed' })
    }
  })

  it('is refused with other results, of another version, or for another question', async () => {
    const honest = await answerOf(made)
    for (const value of [['45'], [44], [], ['44', '44'], null, {}, '44']) {
      await expect(verify({ ...honest, value })).rejects.toMatchObject({ code: 'answer_differs' })
    }
    await expect(verify(honest, EITHER, { version: 40n })).rejects.toMatchObject({ code: 'wrong_version' })
    const questions: [ViewQuestion, string][] = [
      [{ ...EITHER, arguments: ['0xa2', '0xa1'] }, 'answer_differs'],
      [{ ...EITHER, arguments: ['0xa3', '0xa1'] }, 'value_not_proven'],
      [{ ...EITHER, arguments: ['0xa1'] }, 'view_argument_invalid'],
      [{ function: '0x42::main::value', arguments: ['0xa2'] }, 'answer_differs'],
      [{ function: '0x42::other::value', arguments: ['0xa2'] }, 'value_not_proven'],
      [{ function: '0x42::main', arguments: [] }, 'invalid_type_tag'],
      [{ function: '0x42::main::value<u8>', arguments: ['0xa1'] }, 'invalid_argument'],
    ]
    for (const [question, code] of questions) await expect(verify(honest, question)).rejects.toMatchObject({ code })
  })

  it('is not signed for another trust', async () => {
    const honest = await answerOf(made)
    const stranger = waypoint.replace(/.{4}$/, '0000')
    await expect(verify(honest, EITHER, { waypoint: stranger })).rejects.toMatchObject({ code: 'untrusted' })
  })

  it('fails here as it does at the node, which answers a failure without a proof', async () => {
    const question = { function: '0x42::main::value', arguments: ['0xa3'] }
    const { statusCode, body } = await ask(made, createLedger(made.engine), question, 'application/json')
    expect([statusCode, JSON.parse(body)]).toMatchObject([400, { error_code: 'invalid_input' }])
    // A node that proves the reads of the view, and makes up a result.
    const honest = await answerOf(made, { function: '0x42::main::holds', arguments: ['0xa3'] })
    await expect(verify({ ...honest, value: ['5'] }, question)).rejects.toMatchObject({ code: 'view_failed' })
  })

  it('is refused at a version without a tree, with the nearest one that has one', async () => {
    const { statusCode, body } = await inject(
      createRequestListener({ ledger: createLedger(made.engine), proofs: made.proofs }),
      {
        method: 'POST',
        url: '/v1/view?ledger_version=42&proof=true',
        headers: { 'content-type': 'application/json' },
        payload: { function: '0x42::main::point', type_arguments: [], arguments: [] },
      },
    )
    expect([statusCode, JSON.parse(body)]).toMatchObject([410, { nearest_proof_version: '41' }])
  })
})

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
