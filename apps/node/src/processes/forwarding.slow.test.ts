import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as sdk from '@aptos-labs/ts-sdk'
import { openStateEngine } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { createRandom } from '@ledger-state/testing/random'
import { afterEach, describe, expect, it } from 'vitest'
import { NodeProcess } from '../../testing/node-process.ts'
import { startTransferChain, TRANSFER_CHAIN_ID, type TransferChain } from '../../testing/transfer-chain.ts'
import { transferAndRead } from '../../testing/transfer-client.ts'

const CHAIN = { chainId: TRANSFER_CHAIN_ID }
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A store that this process fills with a chain's versions, with a delay. */
async function followChain(lagMs: () => number): Promise<{ chain: TransferChain; dataDir: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'forward-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const chain = await startTransferChain()
  closing.push(() => chain.close())
  const dataDir = join(folder, 'store')
  const engine = openStateEngine({ path: dataDir })
  closing.push(() => engine.close())
  await engine.commit([chain.versions[0]!], CHAIN)
  let last: Promise<unknown> = Promise.resolve()
  chain.onVersion = (version) => {
    setTimeout(() => {
      last = last.then(() => engine.commit([version], CHAIN))
    }, lagMs())
  }
  return { chain, dataDir }
}

function launch(dataDir: string, ...options: string[]): NodeProcess {
  const node = new NodeProcess({ dataDir, options })
  closing.push(() => node.killAll())
  return node
}

describe('a node that forwards', () => {
  it('lets programs see their own writes, whichever reader answers', async () => {
    const seed = Number(process.env.TEST_SEED ?? Date.now())
    const random = createRandom(seed)
    const { chain, dataDir } = await followChain(() => random.below(80))
    const node = await launch(dataDir, '--forward', chain.url, '--readers', '3').listening()
    expect(await transferAndRead(sdk, `${node.address}/v1`, chain.privateKey, 25), `TEST_SEED=${seed}`).toEqual([])
    await eventually(
      async () => /forward_duration_seconds_count\{kind="submit",status="202"[^}]*\} \d/.test(await node.metrics()),
      () => 'its metrics',
    )
  })

  it('does not start with an upstream of another chain', async () => {
    const { dataDir } = await followChain(() => 0)
    const other = createServer((_, response) => void response.end('{"chain_id":5,"ledger_version":"9"}'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    closing.push(() => void other.close())
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1`
    const node = launch(dataDir, '--forward', `gas=${url}`)
    await node.ended
    expect(node.child.exitCode).toBe(1)
    expect(node.output).toContain(`${url}: the upstream serves chain 5; this is chain ${TRANSFER_CHAIN_ID}`)
  })

  it('starts while its upstream is away, says so, and refuses only requests that it would forward', async () => {
    const { dataDir } = await followChain(() => 0)
    const url = `http://127.0.0.1:${await freePort()}/v1`
    const node = await launch(dataDir, '--forward', url, '--forward-pruned').listening()
    await node.outputMatching(/cannot be reached: .*ECONNREFUSED.*; requests are forwarded there once it answers/)
    const statuses = ['/v1', '/v1/transactions', '/v1/estimate_gas_price'].map(
      async (path) => (await fetch(`${node.address}${path}`)).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 503, 503])
    await node.outputMatching(/"process":"reader-\d".*requests cannot be forwarded to/)
  })
})
