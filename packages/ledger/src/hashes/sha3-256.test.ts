import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSha3 as createNodeSha3, sha3Of as nodeSha3Of } from './node-sha3-256.js'
import { createSha3 as createPortableSha3, sha3Of as portableSha3Of } from './portable-sha3-256.js'

it('SHA3-256 hashes alike on every runtime', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(portableSha3Of(bytes)).toEqual(nodeSha3Of(bytes))
    }),
  )
})

it('SHA3-256 of pieces is that of the whole, on every runtime', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, at) => {
      for (const create of [createNodeSha3, createPortableSha3]) {
        const pieces = create().update(bytes.subarray(0, at)).update(bytes.subarray(at))
        expect(Uint8Array.from(pieces.digest())).toEqual(nodeSha3Of(bytes))
      }
    }),
  )
})
