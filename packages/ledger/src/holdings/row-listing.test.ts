import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createHoldingsPage, type HoldingsPage, type RowStep } from './row-listing.js'

const NOTHING = new Uint8Array(0)
/** A step at a place: a row with an item, a row that the page omits, or rows that ended before. */
type Kind = 'item' | 'omitted' | 'skipped'

function stepAt(kind: Kind, place: number): RowStep {
  if (kind === 'skipped') return { second: NOTHING, cursor: Uint8Array.of(place + 1), skipped: 3 }
  return { second: NOTHING, value: Uint8Array.of(kind === 'item' ? 1 : 0), version: 0n, cursor: Uint8Array.of(place) }
}

it('pages have all items once, and a cursor only if another item follows', () => {
  const kinds = fc.array(fc.constantFrom<Kind>('item', 'omitted', 'skipped'), { maxLength: 40 })
  fc.assert(
    fc.property(kinds, fc.integer({ min: 1, max: 5 }), (all, limit) => {
      const items = all.flatMap((kind, place) => (kind === 'item' ? [place] : []))
      const pages: number[][] = []
      for (let start: number | undefined = 0; start !== undefined; ) {
        const steps = all.map(stepAt).slice(start)
        const page: HoldingsPage<number> = createHoldingsPage(steps, { limit }, ({ cursor, value }) =>
          value[0] === 1 ? cursor[0] : undefined,
        )
        pages.push([...page].filter((item) => item !== undefined))
        start = page.cursor?.[0]
      }
      expect(pages.flat()).toEqual(items)
      expect(pages.length).toBe(Math.max(1, Math.ceil(items.length / limit)))
    }),
  )
})

it('a page ends after 10,000 rows, read or skipped, even if it is full', () => {
  const steps = (function* (): Generator<RowStep> {
    yield stepAt('item', 0)
    for (;;) yield { second: NOTHING, cursor: Uint8Array.of(9), skipped: 256 }
  })()
  const page = createHoldingsPage(steps, { limit: 1 }, () => 'item')
  expect([...page].filter((item) => item !== undefined)).toEqual(['item'])
  expect(page.cursor).toEqual(Uint8Array.of(9))
})
