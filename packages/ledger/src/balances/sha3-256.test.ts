import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha3Of as nodeSha3Of } from './node-sha3-256.js'
import { sha3Of as portableSha3Of } from './portable-sha3-256.js'

it('SHA3-256 hashes alike on every runtime', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(portableSha3Of(bytes)).toEqual(nodeSha3Of(bytes))
    }),
  )
})
