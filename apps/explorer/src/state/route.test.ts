import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ACCOUNT_TABS, parseRoute, routeToHref, type View } from './route.ts'

const word = fc.string({ minLength: 1, unit: 'grapheme' })
const version = fc.option(
  fc.bigInt(0n, 2n ** 64n - 1n).map((one) => String(one)),
  { nil: undefined },
)
const curve = fc.record({
  by: fc.constantFrom('version' as const, undefined),
  from: version,
  to: version,
  point: version,
})
const views: fc.Arbitrary<View> = fc.oneof(
  fc.constant<View>({ name: 'home' }),
  fc.record({ name: fc.constant('account' as const), address: word, tab: fc.constantFrom(...ACCOUNT_TABS) }),
  fc.record({ name: fc.constant('balance' as const), address: word, asset: word, curve }),
  fc.record({ name: fc.constant('asset' as const), asset: word }),
  fc.record({ name: fc.constant('resource' as const), address: word, type: word }),
  fc.record({ name: fc.constant('module' as const), address: word, module: word }),
  fc.record({ name: fc.constant('block' as const), by: fc.constantFrom('height', 'version'), number: word }),
  fc.record({ name: fc.constant('api' as const), operation: fc.option(word, { nil: undefined }) }),
  fc.record({
    name: fc.constant('view' as const),
    function: word,
    call: fc.option(fc.record({ typeArguments: fc.array(word, { maxLength: 3 }), arguments: word }), {
      nil: undefined,
    }),
  }),
  fc.record({
    name: fc.constant('table' as const),
    handle: word,
    types: fc.record({
      holder: fc.option(word, { nil: undefined }),
      keyType: fc.constant(undefined),
      valueType: fc.option(word, { nil: undefined }),
    }),
    key: fc.option(word, { nil: undefined }),
  }),
)

describe('a route', () => {
  it('is the same after its address is read again', () => {
    fc.assert(
      fc.property(views, fc.option(word, { nil: undefined }), (view, at) => {
        const url = new URL(routeToHref({ view, at }), 'http://node')
        // A browser would resolve `.` and `..` in a path.
        fc.pre(!url.pathname.split('/').some((part) => part === '.' || part === '..'))
        const dots = JSON.stringify(view).match(/"\.{1,2}"/)
        fc.pre(!dots)
        expect(parseRoute(url.pathname, url.search)).toEqual({ view, at })
      }),
    )
  })

  it('that names nothing is unknown, whatever it is', () => {
    for (const path of ['/account', '/account/0x1/other', '/x', '/table/0x1/2', '/%ff', '/balance/0x1']) {
      expect(parseRoute(path, '').view.name).toBe('unknown')
    }
    fc.assert(
      fc.property(fc.webPath(), fc.string(), (path, query) => {
        expect(parseRoute(path, query).view.name).toBeTypeOf('string')
      }),
    )
  })
})
