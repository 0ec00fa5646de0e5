// Ingest of a genesis blob and of a signed backup: proofs and refusals.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

const chain = new SyntheticChain({ blocks: 60 })

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(() => bed.close())

describe('the ingest of a genesis', () => {
  it('prints the waypoint, and refuses another one', async () => {
    writeFileSync(bed.at('genesis.blob'), chain.genesisBlob)
    const { stderr, status } = bed.run('ingest', bed.at('genesis.blob'), '--dry-run')
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^.*genesis.blob is not verified: its chain 42 is not a known network.*\nsound: 1 version \(0 to 0\).*waypoint 0:[0-9a-f]{64}/,
      ),
    ])
    const waypoint = /waypoint (0:[0-9a-f]{64})/.exec(stderr)![1]!
    const other = `0:${'ab'.repeat(32)}`
    expect(bed.ingest(bed.at('genesis.blob'), 'store', '--waypoint', other)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`has the waypoint ${waypoint}, not ${other}`),
    })
    expect(bed.ingest(bed.at('genesis.blob'), 'store', '--waypoint', waypoint).status).toBe(0)
    expect(await bed.info('store')).toMatchObject({ base: 'genesis', base_version: '0', chain_id: SYNTHETIC_CHAIN_ID })
    writeBackup(chain, bed.at('backup'))
    // The backup has no epoch changes.
    expect(bed.ingest(bed.at('backup'), 'store', '--waypoint', waypoint).stderr).toMatch(
      /the backup in .* cannot be verified.* --unsigned/,
    )
  })

  it.skipIf(!hasSharedData)('is proven against the published waypoint', () => {
    const published = readFileSync(sharedPath('data/genesis/mainnet.waypoint.txt'), 'utf8').trim()
    const blob = sharedPath('data/genesis/mainnet.genesis.blob')
    expect(bed.ingest(blob, 'store', '--waypoint', published).status).toBe(0)
  })
})

describe.skipIf(!hasSharedData)('the ingest of the genesis of mainnet without --waypoint', () => {
  it('is proven, and refuses one flipped bit', () => {
    const blob = readFileSync(sharedPath('data/genesis/mainnet.genesis.blob'))
    writeFileSync(bed.at('genesis.blob'), blob)
    expect(bed.ingest(bed.at('genesis.blob'), 'store')).toMatchObject({
      status: 0,
      stderr: expect.not.stringContaining('vouches'),
    })
    // Changes the last byte of a value in the middle.
    blob[blob.indexOf('CurrentTimeMicroseconds') + 'CurrentTimeMicroseconds'.length + 3]! ^= 1
    writeFileSync(bed.at('genesis.blob'), blob)
    expect(bed.ingest(bed.at('genesis.blob'), 'other')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /the genesis of chain 1 \(mainnet\), but its waypoint is 0:[0-9a-f]{64}, not 0:6072b68a/,
      ),
    })
  })
})

describe.skipIf(!hasSharedData)('the ingest of a signed backup (skipped without ../shared)', () => {
  const made = () => sharedPath('data/epochs/made')
  const facts = () =>
    JSON.parse(readFileSync(join(made(), 'facts.json'), 'utf8')) as { readonly genesis_waypoint: string }

  it('says who signed it, refuses tampered copies, and audits only the epoch changes', async () => {
    const waypoint = facts().genesis_waypoint
    expect(bed.ingest(made(), 'store', '--waypoint', waypoint)).toMatchObject({ status: 0 })
    const signed = { signed_version: '247', signed_epoch: '8', signed_power: '80', total_power: '90' }
    expect(await bed.info('store')).toMatchObject({ waypoint, ...signed })
    expect(bed.run('info', '--data-dir', bed.at('store')).stdout).toContain(
      `to version 247, by 80 of 90 of the voting power of epoch 8, from the waypoint ${waypoint}`,
    )
    for (const variant of readdirSync(join(made(), 'variants'))) {
      cpSync(made(), bed.at(variant), { recursive: true })
      cpSync(join(made(), 'variants', variant), bed.at(variant), { recursive: true, force: true })
      expect(bed.ingest(bed.at(variant), `store of ${variant}`, '--waypoint', waypoint)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/0-\.chunk\.gz, record \d: epoch \d /),
      })
    }
    const chain = sharedPath('data/epochs/chain-a')
    const trusted = readFileSync(join(chain, 'waypoint.txt'), 'utf8').trim()
    const audit = bed.run('ingest', chain, '--dry-run', '--hash-salt', 'DIEM::', '--waypoint', trusted)
    expect(audit).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('the epochs up to 64 are verified from the waypoint'),
    })
  })

  it('claims nothing about a backup that no waypoint verifies', async () => {
    const outcome = bed.ingest(made(), 'store')
    expect(outcome.stderr).toContain(`compare its first waypoint ${facts().genesis_waypoint}`)
    expect(await bed.info('store')).toMatchObject({ waypoint: null, signed_version: null })
    expect(bed.ingest(made(), 'store', '--unsigned', '--waypoint', facts().genesis_waypoint)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('contradict'),
    })
  })
})
