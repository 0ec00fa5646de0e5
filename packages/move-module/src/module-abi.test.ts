import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { bytesToHex, hexToBytes, isLedgerStateError, parseAddress, type VersionWrites } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { decodeStateKey, moduleKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { moduleAbi } from './module-abi.js'
import { readModule, readModuleInterface } from './read-module.js'

interface AbiCase {
  readonly id: string
  readonly bytecode: string
  readonly abi: object
}

interface KitRequest {
  readonly id: string
  readonly area: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly expect: { readonly status: number; readonly json_text?: string; readonly body_sha256?: string }
}

interface Kit {
  readonly sources: readonly { readonly area: string; readonly serve: string }[]
  readonly requests: readonly KitRequest[]
}

function readShared<T>(name: string, absent: T): T {
  return hasSharedData ? (JSON.parse(readFileSync(sharedPath(name), 'utf8')) as T) : absent
}

const { cases } = readShared<{ readonly cases: readonly AbiCase[] }>('cases/module-abi.json', { cases: [] })
const kit = readShared<Kit>('conformance/account-requests.json', { sources: [], requests: [] })

async function readVersions(path: string): Promise<VersionWrites[]> {
  const source = await openSource(path)
  try {
    const versions: VersionWrites[] = []
    for await (const version of source.versions()) versions.push(version)
    return versions
  } finally {
    await source.close()
  }
}

function printModule(bytecode: Uint8Array): string {
  let abi: object | null = null
  try {
    abi = moduleAbi(readModuleInterface(bytecode))
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_module')) throw error
  }
  return `{"bytecode":"${bytesToHex(bytecode)}","abi":${JSON.stringify(abi)}}`
}

const MODULE_PATH = /^\/v1\/accounts\/([^/]+)\/module\/(\w+)(?:\?ledger_version=(\d+))?$/

describe.skipIf(!hasSharedData)('the ABI of a module', () => {
  it.each(cases)('equals the ABI that nodes print: $id', ({ bytecode, abi }) => {
    expect(JSON.stringify(moduleAbi(readModuleInterface(hexToBytes(bytecode))))).toBe(JSON.stringify(abi))
  })

  it.each([
    ['mainnet', 70],
    ['testnet', 63],
    ['devnet', 190],
  ])('is made of every module in the genesis of %s', async (network, count) => {
    let modules = 0
    const [genesis] = await readVersions(sharedPath(`data/genesis/${network}.genesis.blob`))
    for (const [key, value] of genesis!.writes) {
      if (decodeStateKey(key).kind !== 'module') continue
      modules++
      const { friends, functions, views, events, ...definitions } = readModuleInterface(value!)
      expect(definitions).toEqual(readModule(value!))
      const abi = moduleAbi({ ...definitions, friends, functions, views, events })
      expect(abi.structs).toHaveLength(definitions.structs.length)
      const names = new Set(functions.map(({ name }) => name))
      expect([...views].filter((view) => !names.has(view))).toEqual([])
    }
    expect(modules).toBe(count)
  })

  it.each(kit.sources)('equals the ABI that the conformance kit expects of $area', async ({ area, serve }) => {
    const versions = await readVersions(sharedPath(serve.replace(/^shared\//, '')))
    let answered = 0
    for (const { id, area: areaOfRequest, path, headers, expect: expected } of kit.requests) {
      const match = MODULE_PATH.exec(path)
      if (areaOfRequest !== area || !match || expected.status !== 200 || headers.accept?.includes('bcs')) continue
      const key = bytesToHex(moduleKey(parseAddress(match[1]!), match[2]!))
      const newest = BigInt(match[3] ?? versions.at(-1)!.version)
      const writes = versions.filter(({ version }) => version <= newest).flatMap((one) => one.writes)
      const text = printModule(writes.findLast(([written]) => bytesToHex(written) === key)![1]!)
      if (expected.json_text === undefined) {
        expect(createHash('sha256').update(text).digest('hex'), id).toBe(expected.body_sha256)
      } else expect(text, id).toBe(expected.json_text)
      answered++
    }
    expect(answered).toBeGreaterThan(0)
  })
})
