// A node whose store differs from the ledger that validators signed; the real program throughout.
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import {
  FORK_VERSION,
  LATEST_VERSION,
  SIGNED_VERSION,
  writeContradictedStore,
} from '../../testing/contradicted-store.ts'
import { NodeProcess } from '../../testing/node-process.ts'

let bed: CommandBed
let node: NodeProcess | undefined
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await node?.killAll()
  await bed.close()
})

it('a node whose store contradicts a signature serves only signed versions, and is not ready, until the rest is cut off', async () => {
  await writeContradictedStore(bed.folder)
  node = await new NodeProcess({ dataDir: bed.at('store'), options: ['--readers', '2'] }).listening()
  const readiness = () => node!.readiness()
  const shows = (what: string, isShown: () => Promise<boolean>) =>
    eventually(isShown, () => `${what}: ${node!.output.slice(-2_000)}`)
  await shows('readiness', async () => (await readiness()).ready)
  expect(await node.version()).toBe(Number(FORK_VERSION))
  await shows('the signed version', async () => {
    const metrics = await node!.metrics()
    const has = (line: string) => metrics.split('\n').includes(line)
    return has(`ledger_state_signed_version ${SIGNED_VERSION}`) && has('ledger_state_signed_power_ratio 1')
  })
  expect(await node.metrics()).not.toMatch(/^ledger_state_contradicted_version /m)

  expect(bed.ingest('endings', 'store').status).toBe(1)
  await shows('the fault', async () =>
    /signed a ledger up to version \d+ that differs from this store/.test((await readiness()).why ?? ''),
  )
  await shows('the signed version', async () => (await node!.version()) === Number(SIGNED_VERSION))
  await shows('the metric', async () => /^ledger_state_contradicted_version \d/m.test(await node!.metrics()))
  const trust = await (await fetch(`${node.address}/v1/-/trust`)).json()
  expect(trust).toMatchObject({ ledger_version: String(SIGNED_VERSION), contradicted_epoch: '4' })

  expect(bed.run('trust', 'reject-unsigned', '--data-dir', 'store').status).toBe(0)
  expect(bed.ingest('backup', 'store').status).toBe(0)
  await shows('readiness again', async () => (await readiness()).ready)
  await shows('no metric', async () => !/^ledger_state_contradicted_version /m.test(await node!.metrics()))
  await shows('the new versions', async () => (await node!.version()) === Number(LATEST_VERSION))
})
