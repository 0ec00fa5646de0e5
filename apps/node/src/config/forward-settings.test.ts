import { FORWARD_KINDS } from '@ledger-state/http/limits'
import { describe, expect, it } from 'vitest'
import { forwardSettings } from './forward-settings.js'
import { settings } from './settings.js'

const parse = (text: string, pruned = false) => forwardSettings(settings.forward.parse(text), pruned, {})
const [A, B] = ['https://a.example/v1', 'http://b.example:8080/x/v1']

describe('--forward', () => {
  it('names an upstream for all kinds but pruned state, or for single ones', () => {
    const { state: _, ...all } = Object.fromEntries(FORWARD_KINDS.map((kind) => [kind, A]))
    expect(parse(A)).toEqual({ upstreams: all, headers: {} })
    expect(parse(`${A},submit=${B}`)!.upstreams).toEqual({ ...all, submit: B })
    expect(parse(`gas=${B}`)!.upstreams).toEqual({ gas: B })
    expect(parse(A, true)!.upstreams).toEqual({ ...all, state: A })
    expect(parse(`state=${B}`, true)!.upstreams).toEqual({ state: B })
    expect(forwardSettings([], false, {})).toBe(undefined)
  })

  it.each([
    [`${A},${B}`, false, 'two upstreams for all kinds'],
    [`gas=${A},gas=${B}`, false, 'two upstreams for gas'],
    [`state=${A}`, false, 'is for --forward-pruned'],
    [`gas=${A}`, true, '--forward-pruned needs an upstream'],
  ])('refuses values that contradict each other: %s, %s', (text, pruned, why) => {
    expect(() => parse(text, pruned)).toThrow(why)
  })
})
