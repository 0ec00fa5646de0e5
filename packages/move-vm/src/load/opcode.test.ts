import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OP } from './opcode.js'

// V8 makes a jump table of a switch only if all of its cases are literals; without it, the loop takes three times as
// long. The compiler compares the literals with their names.
it('the loop of the machine has a case with a literal for each instruction, and no other', () => {
  const source = readFileSync(new URL('../run/machine.ts', import.meta.url), 'utf8')
  const loop = source.slice(source.indexOf('switch (opcodes[at])'), source.indexOf('an unknown instruction'))
  const cases = [...loop.matchAll(/^ {10}case (.+):/gm)].map(([, text]) => text!.replace(/: \{$/, ''))
  expect(cases.toSorted()).toEqual(
    Object.entries(OP)
      .map(([name, number]) => `${number} satisfies typeof OP.${name}`)
      .toSorted(),
  )
})
