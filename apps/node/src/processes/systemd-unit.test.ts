import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { STORE_FILE } from '@ledger-state/state-engine'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NodeBed, reaches } from '../../testing/node-bed.ts'
import { NodeProcess, PROGRAM } from '../../testing/node-process.ts'

const UNIT = readFileSync(new URL('../../deploy/ledger-state.service', import.meta.url), 'utf8')
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unit-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Values of a setting of the unit, with installation folders moved below the folder of the test. */
function valuesOf(name: string): string[] {
  const lines = UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))
  return [...lines].map(([, value]) => value!.replaceAll(/\/(opt|etc|var\/lib)\/ledger-state/g, `${folder}/$1`))
}

/** Installs the program as docs/operating.md says, and starts it as systemd would. */
function startService(settings: object): NodeProcess {
  mkdirSync(join(folder, 'opt/bin'), { recursive: true })
  mkdirSync(join(folder, 'etc'))
  mkdirSync(join(folder, 'var/lib'), { recursive: true })
  symlinkSync(process.execPath, join(folder, 'opt/bin/node'))
  symlinkSync(dirname(PROGRAM), join(folder, 'opt/dist'))
  writeFileSync(join(folder, 'etc/node.json'), JSON.stringify(settings))
  const env = Object.fromEntries(valuesOf('Environment').map((line) => line.split(/=(.*)/s, 2) as [string, string]))
  const [node, program, ...words] = valuesOf('ExecStart')[0]!.split(' ')
  return new NodeProcess({ installed: [node!, program!], words, env })
}

describe('the systemd unit', () => {
  it.runIf(isSlowRun)('starts a node on the folders of an installation, reloads it and stops it', async () => {
    const bed = await NodeBed.open()
    try {
      bed.source.latest = 300
      const addresses = { listen: '127.0.0.1:0', 'admin-listen': '127.0.0.1:0' }
      const node = startService({ follow: bed.source.url, verify: false, ...addresses })
      bed.nodes.push(node)
      await reaches(await node.listening(), 300)
      expect(readFileSync(join(folder, `var/lib/${STORE_FILE}`)).length).toBeGreaterThan(0)
      const reload = valuesOf('ExecReload')[0]!.replace('$MAINPID', String(node.child.pid)).split(' ')
      expect(spawnSync(reload[0]!, reload.slice(1)).status).toBe(0)
      await node.outputMatching(/SIGHUP/)
      expect(await node.stop()).toBe(0)
    } finally {
      await bed.close()
    }
  })

  it.runIf(isSlowRun)('does not start a node again whose configuration is wrong', async () => {
    const node = startService({ listen: 'nowhere' })
    expect(valuesOf('RestartPreventExitStatus')).toEqual([String(await node.ended)])
  })

  it('is started again however often and quickly it ends', () => {
    expect(valuesOf('Restart')).toEqual(['always'])
    expect(valuesOf('StartLimitIntervalSec')).toEqual(['0'])
    const [unit] = UNIT.split('[Service]')
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m)
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
