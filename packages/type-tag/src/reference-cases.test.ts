import { referenceCases } from '@ledger-state/testing/reference-cases'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { describe, expect, it } from 'vitest'
import { parseTypeTag } from './parse-type-tag.js'
import { typeTagToText } from './type-tag.js'

// Asset types that are addresses are not type tags; `@ledger-state/ledger` distinguishes them.
const cases = referenceCases('type_tag').filter(({ expect: expected }) => expected.kind !== 'fungible_asset')

describe.skipIf(!hasSharedData)('parseTypeTag', () => {
  it.each(cases)('gives the result of the reference case $id', ({ input, expect: expected }) => {
    if (expected.ok) {
      expect(typeTagToText(parseTypeTag(input.text))).toBe(expected.canonical)
    } else if (input.context === 'asset_type_path') {
      // A primitive type is also refused in the place of a struct.
      expect(() => {
        if (parseTypeTag(input.text).kind !== 'struct') throw new RangeError('no struct')
      }).toThrow()
    } else {
      expect(() => parseTypeTag(input.text)).toThrow(expect.objectContaining({ code: 'invalid_type_tag' }))
    }
  })
})
