import { describe, expect, it } from 'vitest'
import { type Assembly, assembleModule } from './assemble-module.js'
import type { SignatureToken } from './module-definition.js'
import { readModule, readModuleCode, readModuleCodeInSteps } from './read-module.js'
import { STEP_BYTES } from './steps.js'

/** Most bytes of an entry of the modules below. */
const ENTRY_BYTES = 64

const MODULES: Readonly<Record<string, Assembly>> = {
  'many functions': {
    name: 'm',
    functions: Array.from({ length: 500 }, (_, at) => ({ name: `f${at}`, code: [['ld_u64', at], ['pop'], ['ret']] })),
  },
  'one long function': {
    name: 'm',
    functions: [{ name: 'f', code: [...Array.from({ length: 30_000 }, () => ['nop'] as ['nop']), ['ret']] }],
  },
  'wide signatures': {
    name: 'm',
    functions: Array.from({ length: 100 }, (_, at) => ({
      name: `f${at}`,
      parameters: Array.from({ length: 100 + at }, () => ({
        kind: 'vector' as const,
        element: { kind: 'u8' as const },
      })),
      code: [['ret']],
    })),
  },
  'wide structs': {
    name: 'm',
    structs: Array.from({ length: 20 }, (_, at) => ({
      name: `S${at}`,
      variants: Array.from({ length: 20 }, (_, variant) => ({
        name: `V${variant}`,
        fields: Array.from({ length: 50 }, (_, field): [string, { kind: 'u64' }] => [`f${field}`, { kind: 'u64' }]),
      })),
    })),
    functions: [],
  },
}

describe('a module', () => {
  it.each(Object.entries(MODULES))('with %s is read in steps of bounded length', (_, assembly) => {
    const bytes = assembleModule(assembly)
    const steps = readModuleCodeInSteps(bytes)
    let sum = 0
    let longest = 0
    let next = steps.next()
    for (; !next.done; next = steps.next()) {
      sum += next.value
      longest = Math.max(longest, next.value)
    }
    expect(longest).toBeLessThanOrEqual(STEP_BYTES + ENTRY_BYTES)
    expect(sum).toBeGreaterThan(bytes.length / 2)
    expect(next.value).toEqual(readModuleCode(bytes))
  })

  it('has no type of more than 4,096 types, which is read in one step', () => {
    /** A type of `count` types: one, lists in it, and the rest in those. */
    const typeOf = (count: number): SignatureToken => {
      const lists: SignatureToken[] = []
      for (let left = count - 1; left > 0; ) {
        const inner = Math.min(left - 1, 200)
        left -= inner + 1
        lists.push(functionType(Array.from({ length: inner }, (): SignatureToken => ({ kind: 'u8' }))))
      }
      return functionType(lists)
    }
    const moduleWith = (...locals: SignatureToken[]) =>
      assembleModule({ name: 'm', functions: [{ name: 'f', locals, code: [['ret']] }] })
    const most = moduleWith(typeOf(4_096), typeOf(4_096))
    expect(readModuleCode(most).tokenCount).toBe(2 * 4_096)
    expect(() => readModuleCode(moduleWith(typeOf(4_096), typeOf(4_097)))).toThrow('a type of more than 4096 types')
    expect(() => readModule(moduleWith(typeOf(20_000)))).not.toThrow()
  })
})

function functionType(parameters: readonly SignatureToken[]): SignatureToken {
  return { kind: 'function', parameters, results: [], abilities: 7 }
}
