import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectedTransaction, transactionOf } from '../../testing/expected-transaction.ts'
import { SYNTHETIC_CHAIN_ID, SyntheticChain } from '../../testing/synthetic-chain.ts'
import { KNOWN_NETWORKS } from '../networks/network.js'
import { openSource } from './open-source.js'
import type { SourceOptions } from './source.js'

const chain = new SyntheticChain({ blocks: 0 })

let folder: string
let notices: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'genesis-'))
  notices = []
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function genesisFile(content: Uint8Array): string {
  const path = join(folder, 'genesis.blob')
  writeFileSync(path, content)
  return path
}

const open = (path: string, options: SourceOptions = {}) =>
  openSource(path, { onNotice: (message) => notices.push(message), ...options })

const SOME_WAYPOINT = `0:${'ab'.repeat(32)}`
const waypointIn = (text: string) => /0:[0-9a-f]{64}/.exec(text)![0]

describe('the genesis of an unknown network', () => {
  it('is read with one notice that nothing verifies it', async () => {
    const path = genesisFile(chain.genesisBlob)
    const { chainId, description } = await open(path)
    expect(chainId).toBe(SYNTHETIC_CHAIN_ID)
    expect(notices).toEqual([expect.stringMatching(`^${path} is not verified: its chain 42 is not a known network`)])
    expect(waypointIn(notices[0]!)).toBe(waypointIn(description))
  })

  it('comes with its transaction', async () => {
    const source = await open(genesisFile(chain.genesisBlob))
    const transactions = []
    for await (const version of source.versions()) transactions.push(transactionOf(version))
    expect(transactions).toEqual([expectedTransaction(chain, 0)])
  })

  it('is compared with the waypoint that is given, without a notice', async () => {
    const path = genesisFile(chain.genesisBlob)
    const waypoint = waypointIn((await open(path)).description)
    notices = []
    await open(path, { waypoints: [waypoint] })
    await expect(open(path, { waypoints: [SOME_WAYPOINT] })).rejects.toMatchObject({
      code: 'verification_failed',
      message: `${path} has the waypoint ${waypoint}, not ${SOME_WAYPOINT}`,
    })
    expect(notices).toEqual([])
  })
})

describe('a genesis that claims to be of a known network', () => {
  const mainnetId = 1
  const claimed = Uint8Array.from(chain.genesisBlob)
  claimed[claimed.indexOf(SYNTHETIC_CHAIN_ID)] = mainnetId

  it('is refused, unless its own waypoint is given or its hashes are salted otherwise', async () => {
    const path = genesisFile(claimed)
    const opening = open(path)
    await expect(opening).rejects.toMatchObject({
      code: 'verification_failed',
      message: expect.stringMatching(
        /the genesis of chain 1 \(mainnet\), but its waypoint is 0:[0-9a-f]{64}, not 0:6072b68a/,
      ),
    })
    const own = await opening.catch((error: Error) => waypointIn(error.message))
    expect((await open(path, { waypoints: [own as string] })).chainId).toBe(mainnetId)
    expect((await open(path, { verify: false })).chainId).toBe(mainnetId)
    expect(notices).toEqual([])
    await open(path, { hashSalt: 'DIEM::' })
    expect(notices.length).toBe(1)
  })
})

it('the genesis of one network is not taken for the genesis of another', async () => {
  const network = KNOWN_NETWORKS.find(({ name }) => name === 'testnet')!
  await expect(open(genesisFile(chain.genesisBlob), { network })).rejects.toMatchObject({
    code: 'verification_failed',
    message: expect.stringMatching(/genesis of chain 42, but testnet is chain 2: name the network of the file/),
  })
})

describe.skipIf(!hasSharedData).each(['mainnet', 'testnet', 'devnet'])('the genesis of %s', (name) => {
  const blob = () => readFileSync(sharedPath(`data/genesis/${name}.genesis.blob`))

  it('is known by its waypoint', async () => {
    await open(genesisFile(blob()))
    expect(notices).toEqual([])
  })

  it('is refused with a flipped bit in a value', async () => {
    const flipped = blob()
    flipped[flipped.length >> 1]! ^= 1
    await expect(open(genesisFile(flipped))).rejects.toMatchObject({
      code: expect.stringMatching(/verification_failed|invalid_genesis/),
    })
  })
})
