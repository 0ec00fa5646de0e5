import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { readAuditRecord } from '@ledger-state/ingest'
import { isOwnKey } from '@ledger-state/records'
import { openStateEngine } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(() => bed.close())

/** Waits until all expectations hold. */
async function until(what: string, expectations: () => Promise<void>): Promise<void> {
  const holds = () => expectations().then(() => true)
  await eventually(holds, () => what)
}

async function trustOf(address: string): Promise<Record<string, unknown>> {
  return (await (await fetch(`${address}/v1/-/trust`)).json()) as Record<string, unknown>
}

it('serve --audit keeps the audit current, and a wrong state turns readiness off', async () => {
  writeBackup(new SyntheticChain({ blocks: 40 }), bed.at('backup'))
  expect(bed.ingest('backup', 'store', '--to', '60')).toMatchObject({ status: 0 })
  const served = await bed.serve('serve', '--data-dir', 'store', '--audit', '--audit-share', '100', '--audit-readiness')
  await until('the store is audited', async () => {
    expect(await trustOf(served.address)).toMatchObject({ audit_findings: 0 })
  })
  const { audited_version: first } = await trustOf(served.address)
  expect(bed.ingest('backup', 'store')).toMatchObject({ status: 0 })
  await until('later versions are audited', async () => {
    expect(Number((await trustOf(served.address)).audited_version)).toBeGreaterThan(Number(first))
  })
  expect(await served.program.stop()).toBe(0)

  const good = openStateEngine({ path: bed.at('store'), durability: 'none' })
  const { latestVersion, chainId } = good.ledger!
  const genesis = [...good.at(0n).scan(new Uint8Array(0))].map(({ key, value }) => [key, value] as const)
  const versions = [
    { version: 0n, block: good.blockAt(0n).block, writes: genesis },
    ...good.versions(1n, latestVersion),
  ]
  await good.close()
  const bad = openStateEngine({ path: bed.at('bad'), durability: 'none' })
  const changed = versions.map((one) => ({
    ...one,
    writes: one.version === 0n ? one.writes.filter(([key], at) => at > 0 || isOwnKey(key)) : one.writes,
  }))
  await bad.commit(changed, { chainId })
  await bad.close()
  const admin = ['--admin-listen', '127.0.0.1:0']
  const wrong = await bed.serve('serve', '--data-dir', 'bad', '--audit', '--audit-readiness', ...admin)
  await until('the audit finds it', async () => {
    expect(await trustOf(wrong.address)).toMatchObject({ audit_findings: 1 })
    expect(wrong.program.output).toContain('wrong from version 0')
    expect(readAuditRecord(bed.at('bad/audit'))?.findingCount).toBe(1)
  })
  const adminAddress = /metrics and probes are on (http:\/\/[\d.:]+)/.exec(wrong.program.output)![1]!
  await until('the node is not ready', async () => {
    const ready = await fetch(`${adminAddress}/-/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.text()).toContain('an audit found that the state differs')
    expect(await (await fetch(`${adminAddress}/metrics`)).text()).toMatch(/^ledger_state_audit_findings\S* 1$/m)
  })
  expect(await wrong.program.stop()).toBe(0)
})
