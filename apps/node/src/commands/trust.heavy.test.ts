import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import {
  FORK_VERSION,
  LATEST_VERSION,
  SIGNED_VERSION,
  WAYPOINT,
  writeContradictedStore,
} from '../../testing/contradicted-store.ts'
import { writeOwnNetwork } from '../../testing/own-network.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(() => bed.close())

describe('trust check', () => {
  it('checks the epoch changes that a store keeps against the waypoint from which it began, or a given one', async () => {
    await writeContradictedStore(bed.folder)
    expect(bed.run('trust', 'check', '--data-dir', 'store')).toMatchObject({
      status: 0,
      stdout: `sound: 4 epoch changes, 0 to 3, are verified from the waypoint ${WAYPOINT}\n`,
    })
    const other = `0:${'ab'.repeat(32)}`
    expect(bed.run('trust', 'check', '--waypoint', other, '--data-dir', 'store')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`epoch 0 has the waypoint ${WAYPOINT}, but the trusted waypoint is ${other}`),
    })
  })

  it('checks the signatures of an export or a snapshot from a given waypoint, since these name none', async () => {
    await writeContradictedStore(bed.folder)
    expect(bed.run('export', 'all.ndjson', '--data-dir', 'store')).toMatchObject({ status: 0 })
    expect(bed.ingest('all.ndjson', 'copy')).toMatchObject({ status: 0 })
    expect(bed.run('trust', 'check', '--data-dir', 'copy').stderr).toContain('copy does not record the waypoint')
    expect(bed.run('trust', 'check', '--waypoint', WAYPOINT, '--data-dir', 'copy').stdout).toMatch(
      /^sound: 4 epoch changes/,
    )
  })

  it('needs no --hash-salt for a store whose ledger has another salt, and neither do checks, trees and later ingests', () => {
    const chain = new SyntheticChain({ salt: 'OTHER::', signers: true })
    const endings = chain.endings().map(signedLedgerInfo)
    writeBackup(chain, bed.at('backup'))
    writeEndings(bed.at('backup'), endings)
    const waypoint = `0:${waypointHash(chain.endings()[0]!)}`
    const salted = ['--hash-salt', 'OTHER::']
    expect(bed.ingest('backup', 'store', '--waypoint', waypoint, ...salted, '--to', '20')).toMatchObject({ status: 0 })
    const store = ['--data-dir', 'store']
    const expectSound = () => {
      expect(bed.run('trust', 'check', ...store)).toMatchObject({
        stderr: '',
        stdout: expect.stringMatching(/^sound: /),
      })
      expect(bed.run('check', '--state-root', ...store).stdout).toMatch(/^state root of version \d+: /)
    }
    expectSound()
    expect(bed.ingest('backup', 'store', '--checkpoint-trees', '0')).toMatchObject({ status: 0 })
    expectSound()
    expect(bed.run('trust', 'keep-tree', ...store)).toMatchObject({
      stderr: '',
      stdout: expect.stringContaining('the state is the signed one'),
    })
    expect(bed.run('trust', 'check', '--hash-salt', 'APTOS::', ...store)).toMatchObject({ status: 1 })
  })

  it('needs none for a store that came from an export either, or once signatures are added', () => {
    const chain = new SyntheticChain({ salt: 'OTHER::', signers: true })
    const waypoint = `0:${waypointHash(chain.endings()[0]!)}`
    writeBackup(chain, bed.at('backup'))
    for (const folder of ['backup', 'endings']) writeEndings(bed.at(folder), chain.endings().map(signedLedgerInfo))
    const trusted = ['--waypoint', waypoint, '--hash-salt', 'OTHER::']
    expect(bed.ingest('backup', 'store', ...trusted)).toMatchObject({ status: 0 })
    expect(bed.run('export', 'all.ndjson', '--data-dir', 'store')).toMatchObject({ status: 0 })
    const feed = readFileSync(bed.at('all.ndjson'), 'utf8')
    expect(feed).toMatch(/^\{"format":"ledger-feed","format_version":1,"chain_id":\d+,"hash_salt":"OTHER::",/)
    const check = (store: string) => bed.run('trust', 'check', '--waypoint', waypoint, '--data-dir', store)
    expect(bed.ingest('all.ndjson', 'copy')).toMatchObject({ status: 0 })
    expect(check('copy')).toMatchObject({ stderr: '', stdout: expect.stringMatching(/^sound: /) })
    // An export of a store that did not know its salt, as all were before.
    writeFileSync(bed.at('old.ndjson'), feed.replace('"hash_salt":"OTHER::",', ''))
    expect(bed.ingest('old.ndjson', 'old', '--checkpoint-trees', '0')).toMatchObject({ status: 0 })
    expect(check('old')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/unless it is APTOS::, give --hash-salt\n$/),
    })
    expect(bed.ingest('endings', 'old', ...trusted)).toMatchObject({ status: 0 })
    expect(bed.ingest('old.ndjson', 'salted', '--hash-salt', 'OTHER::')).toMatchObject({ status: 0 })
    expect(check('salted')).toMatchObject({ stderr: '', stdout: expect.stringMatching(/^sound: /) })
    expect(check('old')).toMatchObject({ stderr: '', stdout: expect.stringMatching(/^sound: /) })
  })

  it('does not call the state of a feed signed, whose signatures nothing has verified', () => {
    const chain = new SyntheticChain({ signers: true })
    const waypoint = `0:${waypointHash(chain.endings()[0]!)}`
    writeBackup(chain, bed.at('backup'))
    writeEndings(bed.at('backup'), chain.endings().map(signedLedgerInfo))
    expect(bed.ingest('backup', 'store', '--waypoint', waypoint).stderr).toMatch(/; the state is the signed one\n$/)
    expect(bed.run('export', 'all.ndjson', '--data-dir', 'store')).toMatchObject({ status: 0 })
    const copied = bed.ingest('all.ndjson', 'copy')
    expect(copied).toMatchObject({ status: 0, stderr: expect.stringMatching(/whose signatures .* not verified\n$/) })
    expect(copied.stderr).not.toContain('the signed one')
  })

  it('is not passed on to a store that `index` did not fill', () => {
    const chain = new SyntheticChain({ signers: true })
    const waypoint = `0:${waypointHash(chain.endings()[0]!)}`
    writeBackup(chain, bed.at('backup'))
    writeEndings(bed.at('backup'), chain.endings().map(signedLedgerInfo))
    const plain = ['--data-dir', 'plain']
    expect(bed.ingest('backup', 'plain', '--waypoint', waypoint, '--holdings', 'off', '--to', '40').status).toBe(0)
    expect(bed.run('export', 'all.ndjson', ...plain)).toMatchObject({ status: 0 })
    expect(bed.ingest('all.ndjson', 'copy')).toMatchObject({ status: 0 })
    const signedOf = (store: string) =>
      (JSON.parse(bed.run('info', '--json', '--data-dir', store).stdout) as { signed_version: unknown }).signed_version
    expect(bed.run('index', 'copy', ...plain)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(
        /^ledger-state: copy has data that index did not write, and would mark as proven: /,
      ),
    })
    expect(signedOf('copy')).toBeNull()
    // A copy that was cut short has no signatures either, and its folder says that it is one.
    writeFileSync(bed.at('copy/index.begun'), '')
    expect(bed.run('index', 'copy', ...plain)).toMatchObject({ status: 0 })
    expect(signedOf('copy')).toBe(signedOf('plain'))
    // It is extended once the store has further versions.
    expect(bed.ingest('backup', 'plain').status).toBe(0)
    const extended = `copy holds versions 0 to ${chain.latestVersion} with the index of holdings\n`
    expect(bed.run('index', 'copy', ...plain)).toMatchObject({ status: 0, stdout: extended })
    expect(existsSync(bed.at('copy/index.begun'))).toBe(false)
  })

  it('says that nothing verifies a store without signatures', async () => {
    await bed.fill('store', 10)
    expect(bed.run('trust', 'check', '--waypoint', WAYPOINT, '--data-dir', 'store')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('keeps no epoch changes, so it cannot be verified'),
    })
  })
})

describe('an ingest with --network', () => {
  it('trusts the waypoints of a file, and refuses a source of another chain', async () => {
    await writeContradictedStore(bed.folder)
    const write = (chainId: number) => writeOwnNetwork(bed.at('mine.json'), { chainId, waypoints: [WAYPOINT] })
    write(SYNTHETIC_CHAIN_ID)
    expect(bed.ingest('backup', 'whole', '--network', 'mine.json')).toMatchObject({ status: 0 })
    expect(await bed.info('whole')).toMatchObject({ waypoint: WAYPOINT, signed_version: String(LATEST_VERSION) })
    expect(bed.run('trust', 'check', '--network', 'mine.json', '--data-dir', 'whole').stdout).toMatch(/^sound: /)
    write(7)
    expect(bed.ingest('backup', 'other', '--network', 'mine.json')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('chain'),
    })
  })
})

it('each command that reads a backup without epoch changes names the switch that does without them', () => {
  const chain = new SyntheticChain({ signers: true })
  writeBackup(chain, bed.at('backup'))
  const waypoint = ['--waypoint', `0:${waypointHash(chain.endings()[0]!)}`]
  const commands = [
    ['ingest', 'backup', '--data-dir', 'store', ...waypoint],
    ['ingest', 'backup', '--dry-run', ...waypoint],
    ['start', '--from', 'backup', '--data-dir', 'store', ...waypoint],
  ]
  for (const words of commands) {
    const stderr = expect.stringMatching(/or ingest it without verifying signatures with --unsigned\n$/)
    expect(bed.run(...words)).toMatchObject({ status: 1, stderr })
  }
  expect(bed.run('ingest', 'backup', '--dry-run', '--unsigned')).toMatchObject({ status: 0 })
})

describe('an ingest of only epoch changes', () => {
  it('signs no version of a store that holds none', async () => {
    await writeContradictedStore(bed.folder)
    expect(bed.ingest('endings', 'empty', '--waypoint', WAYPOINT)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the backup of epoch changes has no versions: the store is still empty'),
    })
    expect(existsSync(bed.at('empty'))).toBe(false)
  })
})

describe('trust reject-unsigned', () => {
  it('mends a store if validators signed another ledger', async () => {
    await writeContradictedStore(bed.folder)
    const refused = bed.ingest('endings', 'store')
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /validators of epoch 4 signed a ledger up to version \d+ that differs from the unsigned versions of this store; remove the unsigned versions with ledger-state trust reject-unsigned\n$/,
      ),
    })
    expect(await bed.info('store')).toMatchObject({ signed_version: String(SIGNED_VERSION), contradicted_epoch: '4' })
    expect(bed.run('info', '--data-dir', 'store').stdout).toMatch(/contradicted +the validators of epoch 4 signed/)
    expect(bed.run('trust', 'reject-unsigned', '--data-dir', 'store')).toMatchObject({
      status: 0,
      stdout: `versions ${SIGNED_VERSION + 1n} to ${FORK_VERSION} are removed; the newest version is ${SIGNED_VERSION}\n`,
    })
    expect(bed.ingest('backup', 'store')).toMatchObject({ status: 0 })
    expect(await bed.info('store')).toMatchObject({
      signed_version: String(LATEST_VERSION),
      contradicted_version: null,
    })
    expect(bed.run('trust', 'reject-unsigned', '--data-dir', 'store').stdout).toMatch(/^everything is signed; /)
  })
})
