import { expect, it } from 'vitest'
import { textToMoment } from './moment.ts'

it('the field of a moment reads versions, times and blocks', () => {
  expect(textToMoment(' 1500 ')).toEqual({ at: '1500' })
  expect(textToMoment('18446744073709551615')).toEqual({ at: '18446744073709551615' })
  expect(textToMoment('2025-01-01')).toEqual({ at: '2025-01-01T00:00:00.000Z' })
  for (const text of ['block 200', '#200', 'Block200']) expect(textToMoment(text)).toEqual({ height: '200' })
  for (const text of ['', 'x', '12:00', '-1', '0x1']) expect(textToMoment(text)).toBeUndefined()
})
