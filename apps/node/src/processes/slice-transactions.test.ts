import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createHttpServer } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger } from '@ledger-state/ledger'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const KIT = 'conformance/transactions'

interface Shown {
  readonly type: string
  readonly hash: string
  readonly sender?: string
  readonly version: string
}

// This needs the shared folder.
describe.runIf(hasSharedData)('the transactions of a slice', () => {
  let ask: (path: string, from?: 'slice' | 'all') => Promise<{ status: number; body: string }>
  let member: string
  let all: readonly Shown[]
  let own: readonly Shown[]

  const servers: Server[] = []

  async function serve(member?: string): Promise<string> {
    const engine = createMemoryEngine()
    for (const path of ['data/genesis/devnet.genesis.blob', `${KIT}/gallery`]) {
      const source = await openSource(sharedPath(path), { thread: false, unsigned: true })
      const only =
        member === undefined ? undefined : { spec: { accounts: [parseAddress(member)], tables: [], types: [] } }
      await ingestSource(engine, source, { keepTransactions: 'whole', only })
      await source.close()
    }
    const server = createHttpServer({ ledger: createLedger(engine), maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
    servers.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  }

  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  })

  beforeAll(async () => {
    const whole = await serve()
    all = (await (await fetch(`${whole}/transactions?start=1&limit=100`)).json()) as Shown[]
    member = all.find(({ sender }) => sender)!.sender!
    const slice = await serve(member)
    ask = async (path, from = 'slice') => {
      const answer = await fetch(`${from === 'slice' ? slice : whole}${path}`)
      return { status: answer.status, body: await answer.text() }
    }
    own = all.filter(({ sender }) => sender === member)
  })

  it('are those that a member sent or that changed a member, as a whole node has them', async () => {
    const affecting = `/accounts/${member}/affecting_transactions?limit=100&order=asc`
    const changed = JSON.parse((await ask(affecting, 'all')).body) as Shown[]
    expect(own.length).toBeGreaterThan(0)
    for (const { version, hash } of [...own, ...changed]) {
      for (const path of [`/transactions/by_version/${version}`, `/transactions/by_hash/${hash}`]) {
        for (let times = 0; times < 2; times++) expect(await ask(path)).toEqual(await ask(path, 'all'))
      }
    }
    for (const path of [
      affecting,
      `/accounts/${member}/transactions?start=0`,
      `/accounts/${member}/transaction_summaries`,
      ...[0, 1, 2, 3].map((stream) => `/accounts/${member}/events/${stream}`),
    ]) {
      expect([path, await ask(path)]).toEqual([path, { ...(await ask(path, 'all')), status: 200 }])
    }
  })

  it('are never called absent if the slice does not keep them', async () => {
    const affecting = `/accounts/${member}/affecting_transactions?limit=100&order=asc`
    const changed = new Set((JSON.parse((await ask(affecting, 'all')).body) as Shown[]).map(({ version }) => version))
    const other = all.find(({ sender, version }) => sender !== member && !changed.has(version))!
    const stranger = all.find(({ sender }) => sender !== undefined && sender !== member)!.sender!
    for (const path of [
      `/transactions/by_version/${other.version}`,
      `/transactions/by_hash/${other.hash}`,
      `/transactions?start=${other.version}&limit=1`,
      `/accounts/${stranger}/transactions`,
      `/accounts/${stranger}/transaction_summaries`,
      `/accounts/${stranger}/affecting_transactions`,
      `/accounts/${stranger}/events/2`,
      '/accounts/0x1/affecting_transactions',
      '/events/0x1::block::NewBlockEvent',
    ]) {
      const { status, body } = await ask(path)
      expect([path, status, JSON.parse(body)]).toMatchObject([path, 410, { error_code: 'version_pruned' }])
      expect(body).toContain('this store keeps only part of the ledger')
    }
  })
})
