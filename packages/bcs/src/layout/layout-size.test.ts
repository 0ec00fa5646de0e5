import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileLayout } from './compile-layout.js'
import { type Layout, MAX_LAYOUT_DEPTH } from './layout.js'
import { layoutDepth, layoutParts, layoutSize, layoutTraits } from './layout-size.js'

const U8: Layout = { kind: 'u8' }
const withLayouts = (layouts: Layout[]) => layouts.map((layout, at) => ({ name: `f${at}`, layout }))
const struct = (...layouts: Layout[]): Layout => ({ kind: 'struct', name: 'S', fields: withLayouts(layouts) })

const anyLayout: fc.Arbitrary<Layout> = fc.letrec<{ layout: Layout }>((tie) => ({
  layout: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.constantFrom(
      ...(['bool', 'u8', 'address', 'object', 'string', 'signer', 'function'] as const).map((kind) => ({ kind })),
    ),
    fc.record({ kind: fc.constant('vector' as const), element: tie('layout') }),
    fc.record({
      kind: fc.constant('option' as const),
      declaredAs: fc.constant('enum' as const),
      element: tie('layout'),
    }),
    fc.record({ kind: fc.constant('map' as const), key: tie('layout'), value: tie('layout') }),
    fc.array(tie('layout'), { maxLength: 3 }).map((fields) => struct(...fields)),
    fc.array(fc.array(tie('layout'), { maxLength: 2 }), { maxLength: 2 }).map(
      (variants): Layout => ({
        kind: 'enum',
        name: 'E',
        variants: variants.map((fields, at) => ({ name: `V${at}`, fields: withLayouts(fields) })),
      }),
    ),
  ),
})).layout

/** Kinds of a layout and of all layouts inside it, each with its level, in their order. */
function kindsIn(layout: unknown, level = 0): { readonly kind: string; readonly level: number }[] {
  if (typeof layout !== 'object' || layout === null) return []
  const isLayout = 'kind' in layout
  const inside = Object.values(layout).flatMap((part) => kindsIn(part, isLayout ? level + 1 : level))
  return isLayout ? [{ kind: String(layout.kind), level }, ...inside] : inside
}

function nested(levels: number, innermost: Layout = U8): Layout {
  let layout = innermost
  for (let level = 0; level < levels; level++) layout = { kind: 'vector', element: layout }
  return layout
}

/** Makes a layout of `levels` doublings, whose innermost part occurs in 2^levels places. */
function doubled(levels: number): Layout {
  let layout = U8
  for (let level = 0; level < levels; level++) layout = struct(layout, layout)
  return layout
}

describe('layoutTraits', () => {
  it('has the depth of any layout, and the first kind in it that is not written', () => {
    fc.assert(
      fc.property(anyLayout, (layout) => {
        const kinds = kindsIn(layout)
        expect(layoutTraits(layout)).toEqual({
          depth: Math.max(...kinds.map(({ level }) => level)),
          unwritable: kinds.find(({ kind }) => ['signer', 'function', 'map'].includes(kind))?.kind,
        })
      }),
    )
  })
})

describe('layoutSize', () => {
  it('counts each layout, field and variant where nothing is shared', () => {
    fc.assert(
      fc.property(anyLayout, (layout) => {
        const text = JSON.stringify(layout)
        const names = text.match(/"name":"[fV]\d+"/g) ?? []
        expect(layoutSize(JSON.parse(text))).toBe(kindsIn(layout).length + names.length)
      }),
    )
  })
})

describe('layoutDepth', () => {
  it('takes as many levels as there may be, with those around', () => {
    expect(layoutDepth(nested(MAX_LAYOUT_DEPTH))).toBe(MAX_LAYOUT_DEPTH)
    expect(layoutDepth(nested(MAX_LAYOUT_DEPTH - 28), 28)).toBe(MAX_LAYOUT_DEPTH)
    for (const [layout, around] of [
      [nested(MAX_LAYOUT_DEPTH + 1), 0],
      [nested(MAX_LAYOUT_DEPTH - 27), 28],
    ] as const) {
      expect(() => layoutDepth(layout, around)).toThrow(
        expect.objectContaining({
          code: 'type_too_large',
          message: 'the type is nested more than 128 levels deep',
        }),
      )
    }
  })

  it('refuses layouts that are deeper than the stack', () => {
    expect(() => layoutDepth(nested(100_000))).toThrow(expect.objectContaining({ code: 'type_too_large' }))
  })

  it('refuses a shared part that is met first where it fits and then where it does not', () => {
    const shared = nested(100)
    expect(() => layoutDepth(struct(shared, nested(60, shared)))).toThrow(/nested more than 128/)
  })
})

describe('a layout whose parts are shared', () => {
  const layout = doubled(100)

  it('is measured and searched part by part', () => {
    expect(layoutTraits(layout)).toEqual({ depth: 100, unwritable: undefined })
    expect(layoutSize(layout)).toBe(1 + 100 * 3)
  })

  it('is compiled part by part', () => {
    let count = 0
    const small = doubled(10)
    const places = compileLayout<number>(small, (part, inner) => {
      count++
      return layoutParts(part).reduce((sum, one) => sum + inner(one), 1)
    })
    expect({ count, places }).toEqual({ count: 11, places: 2 ** 11 - 1 })
  })
})
