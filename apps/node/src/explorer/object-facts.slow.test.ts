// Facts of objects on the page: an asset of the demonstration, and a collection with a token on the genesis of devnet.
import { ByteWriter, parseAddress } from '@ledger-state/core'
import { accessibilityFindings, type Page } from '@ledger-state/explorer/testing/browser'
import { openSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { parseStructTag, resourceGroupKey, writeStructTag } from '@ledger-state/type-tag'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BrowserBed } from '../../testing/browser-bed.ts'
import { ACCOUNTS, VAULTS } from '../demo/demo-addresses.js'

let bed: BrowserBed
beforeAll(async () => {
  bed = await BrowserBed.open()
})
afterEach(async () => {
  for (const context of bed.browser.contexts()) await context.close()
})
afterAll(() => bed?.close())

async function open(url: string): Promise<Page> {
  const page = await bed.browser.newPage({ viewport: { width: 360, height: 740 }, locale: 'en-US' })
  await page.goto(url)
  return page
}

it('a fungible asset has its facts, and leads to its supply and all its holders', async () => {
  const { address, program } = await bed.serve('start', '--data-dir', 'demo')
  const page = await open(`${address}/account/0xa`)
  const card = page.getByRole('region', { name: 'This fungible asset' })
  await card.getByRole('heading', { name: 'Fungible asset Aptos Coin' }).waitFor()
  await card.getByText('APT', { exact: true }).waitFor()
  await card.getByRole('link', { name: 'Supply and holders of this asset' }).click()
  await page.getByRole('heading', { name: `${ACCOUNTS.length + VAULTS.length} holders` }).waitFor()
  expect(await page.locator('.holder').count()).toBe(ACCOUNTS.length + VAULTS.length)
  expect(await accessibilityFindings(page)).toEqual([])
  program.stop()
})

describe.skipIf(!hasSharedData)('on the genesis of devnet (skipped without ../shared)', () => {
  const CREATOR = parseAddress('0xa11ce')
  const COLLECTION = parseAddress(`0xc0${'11'.repeat(30)}`)
  const TOKEN = parseAddress(`0xc1${'22'.repeat(30)}`)
  const text = (writer: ByteWriter, value: string) => writer.byteString(new TextEncoder().encode(value))
  const events = (writer: ByteWriter) => writer.u64(0n).u64(0n).bytes(CREATOR)

  function object(address: Uint8Array, members: readonly (readonly [type: string, value: Uint8Array])[]) {
    const core = events(new ByteWriter().u64(0n).bytes(CREATOR).bool(true)).toBytes()
    const entries = [['0x1::object::ObjectCore', core] as const, ...members].map(([type, value]) => {
      const writer = new ByteWriter()
      writeStructTag(writer, parseStructTag(type))
      return { key: writer.toBytes(), value }
    })
    entries.sort((a, b) => Buffer.compare(a.key, b.key))
    const group = new ByteWriter().uleb128(entries.length)
    for (const { key, value } of entries) group.bytes(key).byteString(value)
    return [resourceGroupKey(address, parseStructTag('0x1::object::ObjectGroup')), group.toBytes()] as const
  }

  let address: string
  beforeAll(async () => {
    address = await bed.serveStore(async (engine) => {
      await ingestSource(engine, await openSource(sharedPath('data/genesis/devnet.genesis.blob')))
      const collection = new ByteWriter().bytes(CREATOR)
      for (const value of ['Ships of the harbour', 'Fleet', 'https://harbour.example/fleet']) text(collection, value)
      const supply = events(events(new ByteWriter().u64(3n).u64(10n).u64(3n))).toBytes()
      const token = new ByteWriter().bytes(COLLECTION).u64(1n)
      for (const value of ['A barge', 'Barge 1', 'https://harbour.example/1']) text(token, value)
      await engine.commit(
        [
          {
            version: 1n,
            block: { height: 1n, epoch: 2n, timestampUsec: 1_700_000_000_000_000n },
            writes: [
              object(COLLECTION, [
                ['0x4::collection::Collection', events(collection).toBytes()],
                ['0x4::collection::FixedSupply', supply],
              ]),
              object(TOKEN, [['0x4::token::Token', events(token).toBytes()]]),
            ],
          },
        ],
        { chainId: engine.ledger!.chainId },
      )
    })
  })

  it('a token leads to its collection, which names its creator and how many there are', async () => {
    const page = await open(`${address}/account/0x${Buffer.from(TOKEN).toString('hex')}`)
    const token = page.getByRole('region', { name: 'This token' })
    await token.getByRole('heading', { name: 'Token Barge 1' }).waitFor()
    await token.getByText('https://harbour.example/1').waitFor()
    await token.getByRole('link').first().click()
    const collection = page.getByRole('region', { name: 'This collection' })
    await collection.getByRole('heading', { name: 'Collection Fleet' }).waitFor()
    await collection.getByText('3', { exact: true }).waitFor()
    await collection.getByText('10', { exact: true }).waitFor()
    expect(await collection.getByRole('link').first().textContent()).toBe('0xa11ce')
    expect(await accessibilityFindings(page)).toEqual([])
  })
})
