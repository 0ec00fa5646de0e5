// Content that anybody may write on a chain at little cost, and that the page must not draw as a whole.
import { gzipSync } from 'node:zlib'
import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import type { Page } from '@ledger-state/explorer/testing/browser'
import { openSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { ABILITY, type SignatureToken, type StructDefinition, writeModule } from '@ledger-state/move-module'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { moduleKey, parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserBed } from '../../testing/browser-bed.ts'

const HOME = parseAddress('0xbad')
const U64: SignatureToken = { kind: 'u64' }
const vectorOf = (element: SignatureToken): SignatureToken => ({ kind: 'vector', element })
const SOURCE_BYTES = 4 * 2 ** 20

function struct(name: string, fields: readonly (readonly [string, SignatureToken])[]): StructDefinition {
  const abilities = ABILITY.key | ABILITY.store
  const members = fields.map(([member, type]) => ({ name: member, type }))
  return { kind: 'struct', name, abilities, typeParameters: [], fields: members }
}

const WIDE = writeModule({
  version: 6,
  address: HOME,
  name: 'wide',
  structs: [
    struct('Nested', [['list', vectorOf(vectorOf(vectorOf(U64)))]]),
    struct('Text', [['text', vectorOf({ kind: 'u8' })]]),
    struct(
      'Fields',
      Array.from({ length: 250 }, (_, at) => [`f${at}`, U64] as const),
    ),
    ...Array.from({ length: 5_000 }, (_, at) => struct(`S${at}`, [['only', U64]])),
  ],
})

/** BCS of a registry with one package, whose module has this source. */
function registry(source: string, dependencies: number): Uint8Array {
  const writer = new ByteWriter().uleb128(1)
  writer.string('Package').u8(1).u64(0n).string('').byteString(new Uint8Array(0))
  writer.uleb128(1).string('wide').byteString(gzipSync(source)).byteString(new Uint8Array(0)).uleb128(0)
  writer.uleb128(dependencies)
  for (let at = 0; at < dependencies; at++) writer.bytes(HOME).string(`P${at}`)
  return writer.uleb128(0).toBytes()
}

function nested(): Uint8Array {
  const writer = new ByteWriter().uleb128(50)
  for (let first = 0; first < 50; first++) {
    writer.uleb128(50)
    for (let second = 0; second < 50; second++) {
      writer.uleb128(50)
      for (let third = 0; third < 50; third++) writer.u64(7n)
    }
  }
  return writer.toBytes()
}

const writes: Write[] = [
  [moduleKey(HOME, 'wide'), WIDE],
  [resourceKey(HOME, parseStructTag('0xbad::wide::Nested')), nested()],
  [
    resourceKey(HOME, parseStructTag('0xbad::wide::Text')),
    new ByteWriter().byteString(new Uint8Array(900_000).fill(0x61)).toBytes(),
  ],
]
const REGISTRY = resourceKey(HOME, parseStructTag('0x1::code::PackageRegistry'))

describe.skipIf(!hasSharedData)('hostile content of a chain (skipped without ../shared)', () => {
  let bed: BrowserBed
  let address: string
  beforeAll(async () => {
    bed = await BrowserBed.open()
    address = await bed.serveStore(async (engine) => {
      await ingestSource(engine, await openSource(sharedPath('data/genesis/devnet.genesis.blob')))
      const { chainId } = engine.ledger!
      const block = (height: bigint) => ({ height, epoch: 2n, timestampUsec: 1_700_000_000_000_000n + height })
      const sources = ['1 '.repeat(SOURCE_BYTES / 2), '\n'.repeat(SOURCE_BYTES), 'x'.repeat(SOURCE_BYTES)]
      for (const [at, source] of sources.entries()) {
        const version = BigInt(at + 1)
        const further: Write = [REGISTRY, registry(source, 5_000)]
        await engine.commit([{ version, block: block(version), writes: [...(at === 0 ? writes : []), further] }], {
          chainId,
        })
      }
    })
  })
  afterAll(() => bed?.close())

  /** Number of nodes in the document, for which the page has to answer. */
  const nodes = async (page: Page): Promise<number> => {
    return await page.evaluate<number>('document.querySelectorAll("*").length')
  }

  it.each([1, 2, 3])('a source of 4 MiB is shown in parts (version %i)', async (version) => {
    const page = await bed.browser.newPage()
    await page.goto(`${address}/module/0xbad/wide?at=${version}`)
    await page.getByText('Source and package').click()
    const source = page.locator('pre.source')
    await source.waitFor()
    const shown = async () => (await source.textContent())!.length
    expect(await shown()).toBe(300_000)
    expect(await nodes(page)).toBeLessThan(30_000)
    await page.getByRole('button', { name: `600000 of ${SOURCE_BYTES} characters` }).click()
    await expect.poll(shown).toBe(600_000)
    expect(await nodes(page)).toBeLessThan(30_000)
    await page.close()
  })

  it('a module of thousands of types, fields and dependencies is shown in parts', async () => {
    const page = await bed.browser.newPage()
    await page.goto(`${address}/module/0xbad/wide?at=3`)
    await page.getByText('of 5003 types').waitFor()
    await page.getByText('Source and package').click()
    await page.getByText('of 5000 packages').waitFor()
    await page.locator('summary', { hasText: 'struct Fields' }).click()
    await page.getByText('of 250 fields').waitFor()
    expect(await nodes(page)).toBeLessThan(15_000)
    await page.getByLabel('Filter by name').fill('S4999')
    await page.locator('summary', { hasText: 'S4999' }).waitFor()
    await page.close()
  })

  it('a value of 125,000 members, and a text of 1.8 million characters, are shown in parts', async () => {
    const page = await bed.browser.newPage()
    await page.goto(`${address}/resource/0xbad/${encodeURIComponent('0xbad::wide::Nested')}?at=3`)
    await page.getByRole('button', { name: '50 members' }).first().waitFor()
    expect(await nodes(page)).toBeLessThan(5_000)
    await page.goto(`${address}/resource/0xbad/${encodeURIComponent('0xbad::wide::Text')}?at=3`)
    const more = page.getByRole('button', { name: '50000 of 1800002 characters' })
    await more.first().waitFor()
    await more.first().click()
    await page.getByRole('button', { name: '100000 of 1800002 characters' }).first().waitFor()
    await page.close()
  })
})
