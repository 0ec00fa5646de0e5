import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parseAddress } from '@ledger-state/core'
import { expect, it } from 'vitest'
import { stateOfProgram } from '../../testing/hostile-program-run.js'
import { holdingPrograms } from '../../testing/hostile-programs.js'
import { createVm } from '../index.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const CHARGED = 8 << 20
/** Heap that a run may hold for each byte that it is charged, and for anything else: code, types and caches. */
const HELD = { perByte: 1.1, free: 3e6 } as const

function heapBytes(): number {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

it.each(holdingPrograms().map((program) => [program.kind, program] as const))(
  'a run that holds %s is charged for the memory that they take',
  (_, program) => {
    const state = stateOfProgram(program)
    const vm = createVm()
    const before = heapBytes()
    const call = { address: parseAddress('0x42'), module: 'm', function: 'f', typeArguments: [], arguments: [] }
    const view = vm.startView(state, call, {})
    let end: string | undefined
    while (view.bytes < CHARGED && end === undefined) {
      const progress = view.advance(256)
      if (progress.kind !== 'paused') end = JSON.stringify(progress)
    }
    expect(end).toBeUndefined()
    const held = heapBytes() - before
    expect(held).toBeLessThan(HELD.perByte * view.bytes + HELD.free)
  },
)
