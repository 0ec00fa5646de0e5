import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { PROGRAM, runProgram } from '../testing/program.ts'

/** Debian's Node.js, if it is older than the program needs. */
const SYSTEM_NODE = '/usr/bin/node'
const found = spawnSync(SYSTEM_NODE, ['--version'], { encoding: 'utf8' }).stdout?.trim()
const isOld = found !== undefined && Number(/^v(\d+)/.exec(found)?.[1]) < 22

describe('the program', () => {
  it.skipIf(!isOld)(
    `on an older Node (${isOld ? found : `no older ${SYSTEM_NODE} here`}) says which one it needs`,
    () => {
      const { status, stdout, stderr } = spawnSync(SYSTEM_NODE, [PROGRAM, 'serve'], { encoding: 'utf8', env: {} })
      expect([status, stdout, stderr]).toEqual([
        2,
        '',
        `ledger-state: this program needs Node.js 22.15 or newer; ${SYSTEM_NODE} is ${found!.slice(1)}\n`,
      ])
    },
  )

  it('writes an error that quotes control characters without them', () => {
    const { status, stderr } = runProgram(['no\u001b[2Jsuch\u009b31m'])
    expect(status).toBe(2)
    expect(stderr).toContain('such 31m')
    expect(stderr.trimEnd()).not.toMatch(/\p{Cc}/u)
  })
})
