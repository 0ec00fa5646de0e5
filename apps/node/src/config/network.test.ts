import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findNetwork } from './network.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'networks-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function fileOf(content: string): string {
  const path = join(folder, 'network.json')
  writeFileSync(path, content)
  return path
}

describe('findNetwork', () => {
  it('finds a network by its name, or in a file', () => {
    expect(findNetwork('testnet')).toMatchObject({ name: 'testnet', chainId: 2 })
    const mine = { name: 'mine', chainId: 9, hashSalt: 'FORK::', waypoints: [] }
    expect(findNetwork(fileOf(JSON.stringify(mine)))).toEqual(mine)
  })

  it('says why a name or a file is refused, and lists the names', () => {
    expect(() => findNetwork('moonnet')).toThrow(
      /"moonnet" is not one of mainnet, testnet, devnet .*did you mean mainnet\?/,
    )
    expect(() => findNetwork('the-moon')).toThrow(
      /"the-moon" is not one of .* and not a file .*: there is no such file or folder$/,
    )
    expect(() => findNetwork(fileOf('{'))).toThrow(/a file that describes a network: .*JSON/)
    expect(() => findNetwork(fileOf('{"name":"x","chainId":900}'))).toThrow(/"chainId" is not a whole number/)
  })
})
