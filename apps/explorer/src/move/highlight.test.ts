import fc from 'fast-check'
import { expect, it } from 'vitest'
import { highlightMove, MOST_TOKENS } from './highlight.ts'

it('the source of a module has its comments, keywords and literals apart', () => {
  const source = `/// Adds.
module 0x1::sum { /* two
lines */ public fun add(a: u64): vector<u8> { abort 7; b"a\\"b"; @0xcafe; structure }`
  const styled = highlightMove(source).filter(({ kind }) => kind !== 'plain')
  expect(styled.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'comment /// Adds.',
    'keyword module',
    'literal 0x1',
    'comment /* two\nlines */',
    'keyword public',
    'keyword fun',
    'keyword abort',
    'literal 7',
    'literal b"a\\"b"',
    'literal @0xcafe',
  ])
})

it('a text of millions of pieces has colours up to a limit', () => {
  const text = `${'1 '.repeat(2_000_000)}/* the end */`
  const tokens = highlightMove(text)
  expect(tokens.length).toBeLessThanOrEqual(2 * MOST_TOKENS + 1)
  expect(tokens.filter(({ kind }) => kind !== 'plain')).toHaveLength(MOST_TOKENS)
  expect(tokens.map((token) => token.text).join('') === text).toBe(true)
})

it('the pieces of any text together are the text', () => {
  const parts = fc.array(fc.constantFrom('//', '/*', '*/', '"', 'b"', '\\', '\n', 'fun', '0x', '7', ' ', 'é', '@'))
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        parts.map((some) => some.join('')),
      ),
      (text) => {
        expect(
          highlightMove(text)
            .map((token) => token.text)
            .join(''),
        ).toBe(text)
      },
    ),
  )
})
