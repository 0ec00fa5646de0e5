import { LedgerStateError } from '@ledger-state/core'
import type { StoredValue } from '@ledger-state/ledger'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AnswerBytes } from '../../admission/answer-bytes.js'
import { ChunkPool } from '../../admission/chunk-pool.js'
import type { PrintItem } from '../../formats/item-text.js'
import { openJsonTexts, PrintedArrayBody } from './page-bodies.js'

interface FakeValue {
  readonly text: string
  readonly isLong: boolean
  readonly isRefused: boolean
}

const REFUSED = new LedgerStateError('invalid_bcs', 'refused')

function storedValue({ text, isLong, isRefused }: FakeValue): StoredValue {
  const json = (): string => {
    if (isRefused) throw REFUSED
    return text
  }
  return {
    bytes: new Uint8Array(0),
    toJson: json,
    *toJsonInSteps() {
      yield
      return json()
    },
    *toJsonUtf8InSteps() {
      for (let steps = 0; steps < 3; steps++) yield
      return Buffer.from(json())
    },
    appendJson(out) {
      if (!isLong) out.text(json())
      return !isLong
    },
  }
}

const fakeValue: fc.Arbitrary<FakeValue> = fc.record({
  text: fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.nat(300_000).map((length) => 'long…'.repeat(length / 5)),
  ),
  isLong: fc.boolean(),
  isRefused: fc.boolean(),
})
/** Parts of items: values, and texts around them. */
const items = fc.array(fc.array(fc.oneof(fakeValue, fc.string({ maxLength: 20 })), { maxLength: 4 }), { maxLength: 12 })

function openBody(): AnswerBytes {
  return new AnswerBytes(() => {}, new ChunkPool())
}

it('items that are JSON already are added in steps if they are long', () => {
  const [body, whole] = [openJsonTexts(openBody()), openJsonTexts(openBody())]
  const texts = ['1', JSON.stringify('long…'.repeat(60_000)), '[]']
  let steps = 0
  for (const text of texts) {
    for (const _ of body.addInSteps(text) ?? []) steps++
    whole.add(text)
  }
  expect(steps).toBeGreaterThan(texts[1]!.length / 65_536 - 1)
  const [inSteps, atOnce] = [body, whole].map((one) => Buffer.concat(one.end().chunks).toString())
  expect(inSteps).toBe(`[${texts.join()}]`)
  expect(atOnce).toBe(inSteps)
})

it('items are printed as an array, their long values in steps, and a value that is refused is replaced', () => {
  fc.assert(
    fc.property(items, fc.boolean(), (all, atOnce) => {
      const stored = all.map((parts) => parts.map((part) => (typeof part === 'string' ? part : storedValue(part))))
      const print: PrintItem<(typeof stored)[number]> = (parts, text) => {
        for (const part of parts) {
          if (typeof part === 'string') {
            text.json.text(part)
            continue
          }
          const start = text.json.length
          try {
            text.json.text('value:')
            text.value(part)
          } catch (error) {
            expect(error).toBe(REFUSED)
            text.json.length = start
            text.json.text('refused')
          }
        }
      }
      const body = new PrintedArrayBody(openBody().text('before '), print)
      for (const [at, item] of stored.entries()) {
        if (atOnce) {
          body.add(item)
          continue
        }
        const steps = body.addInSteps(item)
        const isLong = all[at]!.some((part) => typeof part !== 'string' && part.isLong)
        expect(steps !== undefined).toBe(isLong)
        if (steps) while (!steps.next().done) expect(body.length).toBeGreaterThan(0)
      }
      const texts = all.map((parts) =>
        parts
          .map((part) => (typeof part === 'string' ? part : part.isRefused ? 'refused' : `value:${part.text}`))
          .join(''),
      )
      expect(Buffer.concat(body.end().chunks).toString()).toBe(`before [${texts.join(',')}]`)
    }),
  )
})

it('an item that fails leaves nothing in the next one of another page', () => {
  const failing = new PrintedArrayBody(openBody(), (_, text) => {
    text.json.text('half')
    throw REFUSED
  })
  expect(() => failing.addInSteps(1)).toThrow(REFUSED)
  const body = new PrintedArrayBody<number>(openBody(), (item, text) => text.json.decimal(item))
  for (const item of [1, 2]) body.addInSteps(item)
  expect(Buffer.concat(body.end().chunks).toString()).toBe('[1,2]')
})

it('the buffer that all bodies share is small again after a large item', () => {
  const body = new PrintedArrayBody<string>(openBody(), (item, { json }) => json.text(item))
  for (const item of ['1', JSON.stringify('a long text '.repeat(1_000_000)), '2']) {
    body.add(item)
    expect(body.json.bytes.length).toBeLessThanOrEqual(2 ** 20)
  }
})
