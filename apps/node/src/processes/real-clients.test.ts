import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Aptos, AptosApiError, AptosConfig, getAptosFullNode, Network } from '@aptos-labs/ts-sdk'
import { openSource } from '@ledger-state/feed'
import { createHttpServer } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger } from '@ledger-state/ledger'
import { openStateEngine } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// The SDK as its users have it, pointed at our address and at nothing else of ours.

const COIN = '0x1::aptos_coin::AptosCoin'
/** The supply of AptosCoin: a table item that every network has from its genesis on. */
const SUPPLY_TABLE = '0x1b854694ae746cdbd8d44186ca4929b2b337df21d1c74633be19b2710552fdca'
const SUPPLY = {
  key_type: 'address',
  value_type: 'u128',
  key: '0x619dc29a0aac8fa146714058e8dd6d2d0f3bdf5f6331907bf91f3acd81e6935',
}

const folder = mkdtempSync(join(tmpdir(), 'clients-'))
const closing: (() => Promise<void>)[] = []

async function serve(source: string): Promise<Aptos> {
  const engine = openStateEngine({ path: join(folder, String(closing.length)) })
  await ingestSource(engine, await openSource(sharedPath(source)))
  const server = createHttpServer({ ledger: createLedger(engine), headerWord: 'aptos' })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    await engine.close()
  })
  return new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode: `http://127.0.0.1:${port}/v1` }))
}

afterAll(async () => {
  for (const close of closing) await close()
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(!hasSharedData)('@aptos-labs/ts-sdk 5.2.1', () => {
  let testnet: Aptos
  let mainnet: Aptos
  beforeAll(async () => {
    testnet = await serve('data/testnet-0-3.feed.ndjson.gz')
    mainnet = await serve('data/genesis/mainnet.genesis.blob')
  })

  it('reads table items, at the latest version and at old ones', async () => {
    expect(await mainnet.table.getTableItem({ handle: SUPPLY_TABLE, data: SUPPLY })).toBe('100000000000000000')
    const supplies = await Promise.all(
      [0, 1, 2, 3].map((ledgerVersion) =>
        testnet.table.getTableItem<string>({ handle: SUPPLY_TABLE, data: SUPPLY, options: { ledgerVersion } }),
      ),
    )
    expect(supplies[0]).toBe('18448344073709551615')
    expect(supplies.every((supply) => /^\d+$/.test(supply))).toBe(true)
  })

  it('reads balances of coins and fungible assets', async () => {
    const account = '0x000000007c9f6724cfc3ead36713389148bbeb48a310dacd43a767b52ada4be7'
    expect(await mainnet.account.getBalance({ accountAddress: account, asset: COIN })).toBe(200_000_000)
    expect(await mainnet.account.getBalance({ accountAddress: account, asset: '0xa' })).toBe(0)
    const { data } = await getAptosFullNode<object, number>({
      aptosConfig: testnet.config,
      originMethod: 'test',
      path: `accounts/0xa550c18/balance/${COIN}`,
      params: { ledger_version: 1 },
    })
    expect(data).toBe(Number(18446744073709551615n))
  })

  it('reads the ledger info', async () => {
    expect(await testnet.getLedgerInfo()).toMatchObject({ chain_id: 2, ledger_version: '3', block_height: '2' })
    expect(await mainnet.getChainId()).toBe(1)
  })

  it('maps our errors to its own', async () => {
    const failing = [
      [
        () => testnet.table.getTableItem({ handle: SUPPLY_TABLE, data: SUPPLY, options: { ledgerVersion: 4 } }),
        404,
        'version_not_found',
      ],
      [() => testnet.table.getTableItem({ handle: '0x1', data: SUPPLY }), 404, 'table_item_not_found'],
      [
        () => testnet.table.getTableItem({ handle: SUPPLY_TABLE, data: { ...SUPPLY, key: 'zz' } }),
        400,
        'invalid_input',
      ],
      [
        () => testnet.table.getTableItem({ handle: SUPPLY_TABLE, data: { ...SUPPLY, value_type: 'bool' } }),
        400,
        'invalid_input',
      ],
      [
        () => testnet.account.getBalance({ accountAddress: '0x1', asset: '0x1::nonsense' as never }),
        400,
        'web_framework_error',
      ],
    ] as const
    for (const [call, status, code] of failing) {
      const error = await call().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(AptosApiError)
      expect(error).toMatchObject({ status, data: { error_code: code, message: expect.any(String) } })
    }
  })
})
