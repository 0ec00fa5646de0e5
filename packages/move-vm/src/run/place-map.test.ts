import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PlaceMap } from './place-map.js'

it('has the values that were added, by kind and address', () => {
  const place = fc.tuple(fc.constantFrom('k', 'kk', 'l'), fc.constantFrom('', 'k', '0', '1', '2', '3'))
  fc.assert(
    fc.property(fc.array(place, { maxLength: 60 }), (places) => {
      const map = new PlaceMap<string, number>()
      const oracle = new Map<string, number>()
      for (const [at, [kind, address]] of places.entries()) {
        const name = `${kind}/${address}`
        expect(map.get(kind, address)).toBe(oracle.get(name))
        if (oracle.has(name)) continue
        map.add(kind, address, at)
        oracle.set(name, at)
      }
      for (const [kind, address] of places) expect(map.get(kind, address)).toBe(oracle.get(`${kind}/${address}`))
    }),
  )
})
