import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { namedVersion, stringMemberOf } from './named-version.js'

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe('a member of a JSON text', () => {
  it('is the same name that a parser finds, wherever else the name occurs', () => {
    const names = fc.constantFrom('version', 'last_version', 'versio', '"version":"1"', 'ver\\sion', 'x')
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.constantFrom('{"version":"1"}', 'version', '\\', '"'),
        fc.integer(),
        fc.constantFrom(null, true),
        fc.array(tie('any')),
        fc.dictionary(names, tie('any')),
      ),
    })).any
    fc.assert(
      fc.property(fc.dictionary(names, value), fc.constantFrom(0, 2), (object, indent) => {
        const found = stringMemberOf(bytesOf(JSON.stringify(object, undefined, indent)), 'version')
        const member = object.version
        // A version has no escapes.
        if (typeof member === 'string' && JSON.stringify(member) !== `"${member}"`) expect(found).toBeTypeOf('string')
        else expect(found).toBe(typeof member === 'string' ? member : undefined)
      }),
    )
  })

  it.each([
    '',
    '{',
    '{"version',
    '{"version"',
    '{"version":',
    '[{"version":"1"}]',
    '"version":"1"',
    '}}{"version":"1"',
  ])('is not found in %s', (text) => {
    expect(stringMemberOf(bytesOf(text), 'version')).toBe(undefined)
  })
})

describe('the version that an answer names', () => {
  const options = { isJson: true, member: 'version', isWhole: true }

  it('is unknown if the text is cut before it, or if it is not a version', () => {
    const name = (text: string, isWhole: boolean) => namedVersion(bytesOf(text), { ...options, isWhole })
    expect(name('{"version":"7","x', false)).toBe(7n)
    expect([name('{"x":1}', true), name('{"x":1', false)]).toEqual([undefined, 'unknown'])
    expect([name('{"version":"x"}', true), name('{"version":"18446744073709551616"}', true)]).toEqual([
      'unknown',
      'unknown',
    ])
    expect(namedVersion(Uint8Array.of(0, 1), { ...options, isJson: false })).toBe('unknown')
    expect(namedVersion(Uint8Array.of(), { ...options, isJson: false })).toBe('unknown')
  })
})
