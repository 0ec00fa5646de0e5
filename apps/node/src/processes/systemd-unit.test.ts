import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const UNIT = readFileSync(new URL('../../deploy/ledger-state.service', import.meta.url), 'utf8')
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unit-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('the systemd unit', () => {
  it('runs the Node.js that was installed beside the program, not that of the system', () => {
    expect(UNIT).toMatch(/^ExecStart=\/opt\/ledger-state\/bin\/node \/opt\/ledger-state\/dist\/main\.js serve /m)
  })

  const checker = hasSystemd ? 'systemd-analyze' : 'systemd-analyze, which is not installed'
  it.skipIf(!hasSystemd)(`has no fault that ${checker} finds`, () => {
    mkdirSync(join(folder, 'bin'))
    symlinkSync(process.execPath, join(folder, 'bin/node'))
    const path = join(folder, 'ledger-state.service')
    writeFileSync(path, UNIT.replaceAll('/opt/ledger-state', folder))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
})
