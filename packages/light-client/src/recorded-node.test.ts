// The functions that ask a node themselves, with the exchanges that `testing/record-answers.ts` recorded: on Node, and
// in a browser, which has only the portable code.
import { hexToBytes } from '@ledger-state/core'
import { describe, expect, inject, it } from 'vitest'
import { callNode, textToCall } from '../testing/node-reads.ts'
import { rememberingBls } from '../testing/remembering-bls.ts'

const { calls, exchanges } = inject('recordedAnswers')
const bls = rememberingBls()

/** Answers as the node did; `change` may change the body of each answer. */
function replay(change = (body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => body) {
  return (async (url: string, { method, body }: RequestInit) => {
    const answer = exchanges[`${method ?? 'GET'} ${url} ${body ?? ''}`]
    if (!answer) throw new TypeError(`nobody asked ${url} when the answers were recorded`)
    return new Response(change(Uint8Array.from(hexToBytes(answer.body))), { status: answer.status })
  }) as typeof globalThis.fetch
}

describe.each(calls.map((text) => ({ call: textToCall(text) })))('$call.0 of a recorded node', ({ call }) => {
  const verify = async (fetch: typeof globalThis.fetch) => await callNode(call, { url: 'http://node/v1', bls, fetch })

  it('is accepted', async () => {
    for (let round = 0; round < 2; round++) {
      expect(await verify(replay())).toMatchObject(call[2] as object)
    }
  })

  it('is refused if the answer lacks its last byte, or if there is none', async () => {
    for (const change of [(body: Uint8Array<ArrayBuffer>) => body.subarray(0, -1), () => new Uint8Array(0)]) {
      await expect(verify(replay(change))).rejects.toMatchObject({ code: 'invalid_answer' })
    }
  })

  it('is refused if the node cannot be reached', async () => {
    const away = (() => Promise.reject(new TypeError('Failed to fetch'))) as typeof globalThis.fetch
    await expect(verify(away)).rejects.toMatchObject({
      code: 'invalid_answer',
      message: 'the node gave no answer: Failed to fetch',
    })
  })
})
