import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { findPackage, unpackSource } from './package-registry.ts'

const packed = (bytes: string | Uint8Array) => `0x${gzipSync(bytes).toString('hex')}`

describe('a package registry', () => {
  const registry = {
    packages: [
      { name: 'Other', upgrade_policy: { policy: 1 }, upgrade_number: '0', modules: [], deps: [] },
      {
        name: 'Shop',
        upgrade_policy: { policy: 2 },
        upgrade_number: '7',
        modules: [
          { name: 'till', source: packed('module 0x2::till {}') },
          { name: 'shelf', source: '0x' },
        ],
        deps: [{ account: '0x1', package_name: 'AptosFramework' }],
      },
    ],
  }

  it('finds the package of a module', () => {
    expect(findPackage(registry, 'till')).toMatchObject({
      name: 'Shop',
      upgradePolicy: 'immutable: it never changes',
      upgradeNumber: '7',
      dependencies: [{ address: '0x1', name: 'AptosFramework' }],
    })
    expect(findPackage(registry, 'shelf')).toMatchObject({ name: 'Shop', packedSource: undefined })
    expect(findPackage(registry, 'window')).toBeUndefined()
  })
})

describe('a packed source', () => {
  it('is unpacked', async () => {
    expect(await unpackSource(packed('// é\nmodule 0x2::till {}'))).toEqual({ text: '// é\nmodule 0x2::till {}' })
  })

  it.each([
    ['0xzz', /not hex/],
    ['0x00ff', /not gzip/],
    [packed('module').slice(0, -10), /damaged/],
    // 64 MiB of zeros, packed into 64 kB.
    [packed(new Uint8Array(2 ** 26)), /more than 4 MiB/],
  ])('is refused if it cannot be one: %#', async (source, message) => {
    expect(await unpackSource(source)).toMatchObject({ failure: { message: expect.stringMatching(message) } })
  })
})
