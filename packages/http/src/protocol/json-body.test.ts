import { jsonValueToText } from '@ledger-state/bcs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BATCH_LIMITS, ContentLength, parseJsonList } from './json-body.js'

const pieces = fc.array(
  fc.oneof(
    fc.string({ unit: fc.constantFrom(' ', '\n', 'x'), maxLength: 20 }),
    fc.integer({ min: 4_000, max: 9_000 }).map((length) => ' '.repeat(length)),
  ),
)

it('the length of content does not count the white space around it, whatever chunks it comes in', () => {
  fc.assert(
    fc.property(pieces, (texts) => {
      const content = new ContentLength()
      for (const text of texts) content.add(Buffer.from(text))
      expect(content.bytes).toBe(texts.join('').trim().length)
    }),
  )
})

it('the items of a list are parsed when they are asked for, out of the bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.string({ unit: 'grapheme' }), fc.nat(5_000), (items, name, spaces) => {
      const text = `${' '.repeat(spaces)}${JSON.stringify({ [name]: name, list: items, [`${name}2`]: [] })}`
      const list = parseJsonList(Buffer.from(text), 'list', { ...BATCH_LIMITS, bytes: text.length * 4 })!
      expect(list.length).toBe(items.length)
      for (const [at, item] of items.entries()) {
        expect(jsonValueToText(list.item(at))).toBe(JSON.stringify(item))
        expect(list.isObject(at)).toBe(JSON.stringify(item).startsWith('{'))
      }
    }),
  )
  const body = Buffer.from('{"list":["first","second"]}')
  const list = parseJsonList(body, 'list', BATCH_LIMITS)!
  body.write('"other"', body.indexOf('"first"'))
  expect([list.item(0), list.item(1)]).toEqual(['other', 'second'])
})
