// Verifies the answers that `testing/record-answers.ts` recorded: on Node, and in a browser, which has the portable
// code.
import { bytesToHex, hexToBytes } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import { rememberingBls } from '../testing/remembering-bls.ts'
import type { ReadQuestion } from './question.js'
import { readEndingsFrom } from './read-endings.js'
import { verifyRead } from './verify-read.js'

const { version, waypoint, answers, modules, endings } = inject('recordedAnswers')

const readProof = async (key: Uint8Array) => modules[bytesToHex(key)]
const cases = answers.map(({ question, ...answer }) => ({ ...answer, question: parseQuestion(question) }))
const bls = rememberingBls()
const options = (question: ReadQuestion) => ({ question, waypoint, readProof, bls, version: BigInt(version) })

function parseQuestion(text: string): ReadQuestion {
  return JSON.parse(text, (_, one) => (typeof one?.hex === 'string' ? hexToBytes(one.hex) : one)) as ReadQuestion
}

describe.each(cases)('the recorded answer about $name', ({ question, json, bcs, bytes, value }) => {
  it('is accepted in both formats', async () => {
    for (const answer of [json, hexToBytes(bcs)]) {
      const read = await verifyRead(answer, options(question))
      expect(read.bytes ? bytesToHex(read.bytes) : null).toBe(bytes)
      if (value !== null) expect(JSON.parse(read.json!)).toEqual(value)
      expect(read.signers.count).toEqual({ signed: 4, total: 4 })
    }
  })

  it('is refused with another value', async () => {
    const { proof } = JSON.parse(json) as { readonly proof: unknown }
    const other = bytes === null ? { other: '7' } : null
    await expect(verifyRead({ value: other, proof }, options(question))).rejects.toMatchObject({
      code: 'answer_differs',
    })
  })

  it('is refused where a byte of its state, its accumulator or its ledger info is another', async () => {
    // The epoch changes come last. The waypoint does not cover all of the first one, so parts of it may differ.
    const { proof } = JSON.parse(json) as { readonly proof: { readonly ledger_info: string } }
    const end = hexToBytes(bcs).length - lengthOfEndings(json)
    expect(bcs).toContain(proof.ledger_info.slice(2))
    await fc.assert(
      fc.asyncProperty(fc.nat(end - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = hexToBytes(bcs)
        changed[at]! ^= change
        await expect(verifyRead(changed, options(question)), `byte ${at} ^ ${change}`).rejects.toMatchObject({
          name: 'LedgerStateError',
        })
      }),
      { numRuns: 5 },
    )
  })
})

it('epoch changes are read where an answer has none', async () => {
  const body = hexToBytes(endings)
  const fetchHere = (async (url: string) => {
    expect(url).toBe(`http://node/v1/-/epoch_endings?from=${waypoint}`)
    return new Response(Uint8Array.from(body))
  }) as unknown as typeof globalThis.fetch
  const { question, json } = cases[0]!
  const answer = JSON.parse(json) as { readonly proof: object }
  const without = { ...answer, proof: { ...answer.proof, epoch_endings: [] } }
  await expect(verifyRead(without, options(question))).rejects.toMatchObject({ code: 'untrusted' })
  const readEndings = readEndingsFrom('http://node/v1', fetchHere)
  await expect(verifyRead(without, { ...options(question), readEndings })).resolves.toMatchObject({
    signers: { count: { signed: 4, total: 4 } },
  })
})

/** Number of bytes of the epoch changes in BCS, each with its length of two bytes before it. */
function lengthOfEndings(json: string): number {
  const { proof } = JSON.parse(json) as { readonly proof: { readonly epoch_endings: readonly string[] } }
  return proof.epoch_endings.reduce((sum, hex) => sum + 2 + (hex.length - 2) / 2, 1)
}
