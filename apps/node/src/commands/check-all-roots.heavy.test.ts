import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { readAuditRecord } from '@ledger-state/ingest'
import { isOwnKey, SLICE_KEY, STATE_ROOT_KEY } from '@ledger-state/records'
import { openStateEngine } from '@ledger-state/state-engine'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { auditFolder } from '../stores/audit-folder.js'
import { lockAudit } from '../stores/audit-lock.js'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(() => bed.close())

const store = ['--data-dir', 'store']

/** Ingests a signed chain, and returns its waypoint. */
function ingestChain(...options: string[]): string {
  const chain = new SyntheticChain({ signers: true, blocks: 25 })
  writeBackup(chain, bed.at('backup'))
  writeEndings(bed.at('backup'), chain.endings().map(signedLedgerInfo))
  const waypoint = `0:${waypointHash(chain.endings()[0]!)}`
  expect(bed.ingest('backup', 'store', '--waypoint', waypoint, ...options)).toMatchObject({ status: 0 })
  return waypoint
}

describe('check --all-roots', () => {
  it('says up to which version every root matches the ledger, as does info', () => {
    const waypoint = ingestChain('--to', '40')
    const info = () => JSON.parse(bed.run('info', '--json', ...store).stdout)
    expect(info()).toMatchObject({ audited_version: null, audit_findings: null })
    expect(bed.run('info', ...store).stdout).not.toContain('audited')
    const first = bed.run('check', '--all-roots', ...store)
    expect(first).toMatchObject({ status: 0, stderr: '' })
    expect(first.stdout).toMatch(
      /^audited to version \d+, from version 0: \d+ blocks, all as the ledger says \(signed, from the waypoint 0:[0-9a-f]+\)\n/,
    )
    expect(first.stdout).toContain(waypoint)
    const version = /version (\d+)/.exec(first.stdout)![1]!
    expect(info()).toMatchObject({ audited_version: version, audited_from_version: '0', audit_findings: 0 })
    expect(bed.run('info', ...store).stdout).toMatch(
      new RegExp(`^ +audited +to version ${version}, from version 0:`, 'm'),
    )
    // It continues with later versions.
    expect(bed.ingest('backup', 'store')).toMatchObject({ status: 0 })
    expect(info()).toMatchObject({ audited_version: version })
    expect(bed.run('check', '--all-roots', ...store)).toMatchObject({ status: 0 })
    expect(Number(info().audited_version)).toBeGreaterThan(Number(version))
    const { signed_version: signed } = info()
    expect(info().audited_version).toBe(signed)
  })

  it('is part of a snapshot, which continues it: the copy is audited, and has its proofs and findings', async () => {
    ingestChain('--to', '40')
    const check = ['check', '--all-roots']
    expect(bed.run(...check, '--proofs-budget', '1000', ...store)).toMatchObject({ status: 0 })
    const info = (name: string) => JSON.parse(bed.run('info', '--json', '--data-dir', name).stdout)
    const audited = (name: string) => {
      const { audited_version, audited_from_version, audit_findings } = info(name)
      return { audited_version, audited_from_version, audit_findings }
    }
    for (const options of [[], ['--compact']]) {
      const name = `copy${options.join('')}`
      expect(bed.run('snapshot', name, ...options, ...store)).toMatchObject({ status: 0 })
      expect(audited(name)).toEqual(audited('store'))
      expect(audited(name).audit_findings).toBe(0)
      const [of, copied] = ['store', name].map((one) => readAuditRecord(auditFolder(bed.at(one)))!)
      expect(copied).toEqual(of)
      // Both continue by themselves, after the versions that are audited already.
      const before = JSON.parse(readFileSync(bed.at(`${name}/audit/audit.json`), 'utf8').split('\n')[0]!)
      expect(bed.ingest('backup', name)).toMatchObject({ status: 0 })
      expect(bed.run(...check, '--data-dir', name)).toMatchObject({ status: 0 })
      const after = readAuditRecord(auditFolder(bed.at(name)))!
      expect(after.proofs!.cuts[0]).toMatchObject({ name: before.proofs.cuts[0].name, first: 0n })
      expect(after.compared).toBeGreaterThan(before.compared)
    }
    // A copy whose ledger is cut off afterwards audits the rest again; a copy without an audit has none.
    const engine = openStateEngine({ path: bed.at('copy'), durability: 'none' })
    await engine.truncateTo(20n)
    await engine.close()
    expect(audited('copy').audited_version).toBeNull()
    expect(bed.run(...check, '--data-dir', 'copy')).toMatchObject({ status: 0 })
    expect(Number(audited('copy').audited_version)).toBeLessThanOrEqual(20)
    const [file] = readdirSync(bed.at('store/audit')).filter((name) => name.startsWith('keys-'))
    rmSync(bed.at(`store/audit/${file}`))
    expect(bed.run('snapshot', 'bare', ...store)).toMatchObject({ status: 0 })
    expect(existsSync(bed.at('bare/audit'))).toBe(false)
    expect(audited('bare').audited_version).toBeNull()
  })

  it('names the versions in which a value is wrong, and the key, each time it is asked', async () => {
    ingestChain()
    const good = openStateEngine({ path: bed.at('store'), durability: 'none' })
    const { latestVersion, chainId } = good.ledger!
    const all = [...good.at(0n).scan(new Uint8Array(0))].map(({ key, value }) => [key, value] as const)
    const versions = [{ version: 0n, block: good.blockAt(0n).block, writes: all }, ...good.versions(1n, latestVersion)]
    const place = versions.findIndex(({ writes, version }) => version > 30n && writes.some(([key]) => !isOwnKey(key)))
    const { writes } = versions[place]!
    const wrong = writes.find(([key, value]) => !isOwnKey(key) && value)!
    const changed = [wrong[0], Uint8Array.of(...wrong[1]!, 0)] as const
    versions[place] = { ...versions[place]!, writes: writes.map((write) => (write === wrong ? changed : write)) }
    const end = good.blockAt(versions[place]!.version).lastVersion
    await good.close()
    const bad = openStateEngine({ path: bed.at('bad'), durability: 'none' })
    await bad.commit(versions, { chainId })
    await bad.close()
    for (const options of [[], ['--work-dir', bed.at('elsewhere')], []]) {
      const found = bed.run('check', '--all-roots', '--data-dir', 'bad', ...options)
      expect(found.status).toBe(1)
      expect(found.stdout).toContain(`wrong from version ${end} to`)
      expect(found.stdout).toContain(`0x${Buffer.from(wrong[0]).toString('hex')}`)
      expect(found.stdout).toContain('once not as the ledger says (the ledger is not signed)')
      expect(found.stderr).toContain('the state of bad differs from the ledger once')
    }
    const named = bed.run('check', '--all-roots', '--data-dir', 'bad', '--compare-with', 'store')
    const key = `0x${Buffer.from(wrong[0]).toString('hex')}`
    expect(named.stdout).toContain(`1 key differs from store at version ${end}:\n    ${key}\n`)
    expect(readFileSync(bed.at('elsewhere/audit.json'), 'utf8')).toContain('"findingCount":1')
    expect(JSON.parse(bed.run('info', '--json', '--data-dir', 'bad').stdout)).toMatchObject({ audit_findings: 1 })
  })

  it('names the stores that cannot be audited', async () => {
    ingestChain()
    const refuse = (message: string, ...command: string[]) => {
      const { status, stderr } = bed.run('check', ...command)
      expect(stderr).toContain(message)
      expect(status).not.toBe(0)
    }
    refuse('--all-roots audits all versions', '--all-roots', '--version', '3', ...store)
    refuse('--again needs --all-roots', '--again', ...store)
    refuse('--work-dir needs --all-roots', '--work-dir', 'x', ...store)
    refuse('--all-roots audits a store in a folder', '--all-roots', '--store', 'postgres://localhost/none')
    const bare = openStateEngine({ path: bed.at('bare'), durability: 'none' })
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await bare.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
    await bare.close()
    refuse('the ledger', '--all-roots', '--data-dir', 'bare')
    // A part of a state has no root that the ledger knows.
    const root = [STATE_ROOT_KEY, new Uint8Array(32)] as const
    const parts = [
      { name: 'slice', version: 0n, writes: [root, [SLICE_KEY, Uint8Array.of(1)] as const], says: 'keeps only part' },
      { name: 'late', version: 5n, writes: [root], says: 'began on an assumed empty base' },
    ]
    for (const { name, version, writes, says } of parts) {
      const engine = openStateEngine({ path: bed.at(name), durability: 'none' })
      await engine.commit([{ version, block, writes }], { chainId: 1 })
      await engine.close()
      refuse(says, '--all-roots', '--data-dir', name, '--proofs-budget', '40')
    }
    const checks = ['--all-roots', '--state-root', '--holdings']
    for (const left of checks) refuse('one check at a time', ...checks.filter((one) => one !== left), ...store)
    refuse('--proofs-budget needs --all-roots', '--proofs-budget', '40', ...store)
    // Two audits never use a folder at once.
    const release = lockAudit(bed.at('store/audit'))
    refuse('another audit uses', '--all-roots', ...store)
    release()
    expect(bed.run('check', '--all-roots', ...store)).toMatchObject({ status: 0 })
  })
})
