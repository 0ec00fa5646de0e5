import { ByteReader, ByteWriter } from '@ledger-state/core'
import { expect, it } from 'vitest'
import { readTrustedState, type TrustedState, writeTrustedState } from './trusted-state.js'

const trustedState: TrustedState = {
  waypoint: `0:${'0a'.repeat(32)}`,
  ending: `7:${'0b'.repeat(32)}`,
  epoch: 8n,
  power: { signed: 2n ** 100n, total: 2n ** 101n },
}

it.each([trustedState, { ...trustedState, power: undefined }])('a trusted state is read as it was written', (given) => {
  const writer = new ByteWriter()
  writeTrustedState(writer, given)
  expect(readTrustedState(new ByteReader(writer.toBytes()))).toEqual(given)
})

it('a waypoint that is not UTF-8 is refused', () => {
  const bytes = new ByteWriter().byteString(Uint8Array.of(0xff)).toBytes()
  expect(() => readTrustedState(new ByteReader(bytes))).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
})
