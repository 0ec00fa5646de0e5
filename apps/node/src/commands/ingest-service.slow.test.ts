// The backup service of a node, ingested by the real program: a node that prunes, and a real chain.
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BackupService, startBackupService } from '@ledger-state/feed/testing/backup-service'
import { serveFolder } from '@ledger-state/feed/testing/served-backup'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

const chain = new SyntheticChain({ blocks: 60, signers: true })
const endings = chain.endings()
const BASE = Number(endings[3]!.version)
const LAST = Number(chain.latestVersion)
const WAYPOINT = `0:${waypointHash(endings[0]!)}`

let bed: CommandBed
let service: BackupService
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
  await service.close()
})

const ingesting = (store: string, ...options: string[]) =>
  bed.start('ingest', `backup+${service.url}`, '--data-dir', bed.at(store), ...options).outcome()

describe('ingest of the backup service of a node that prunes', () => {
  const window = (since: number | string) => ['--waypoint', WAYPOINT, '--since', String(since)]

  beforeEach(async () => {
    service = await startBackupService(chain)
    service.oldest = BASE + 1
    service.oldestState = BASE
  })

  it('begins with the oldest state that it has, and gives the store that a folder gives', async () => {
    writeBackup(chain, bed.at('backup'), { snapshot: { version: BASE, chunk: 1_000 } })
    writeEndings(bed.at('backup'), endings.map(signedLedgerInfo))
    expect(bed.ingest(bed.at('backup'), 'whole', ...window(BASE)).status).toBe(0)
    const { status, stderr } = await ingesting('store', ...window(BASE))
    expect([status, stderr]).toEqual([0, expect.stringMatching(/ingested: /)])
    expect(await bed.info('store')).toMatchObject({ base_version: String(BASE), signed_version: String(LAST) })
    expect(await bed.digest('store')).toBe(await bed.digest('whole'))
  })

  it('refuses earlier versions and times in one line, names the available ones, and leaves no store', async () => {
    const timeOf = (epoch: number) => new Date(Number(endings[epoch]!.timestampUsec! / 1_000n)).toISOString()
    for (const since of [BASE - 1, timeOf(2)]) {
      const { status, stderr } = await ingesting('store', ...window(since))
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(
          new RegExp(
            `^ledger-state: the backup in backup\\+http\\S+ cannot begin at version \\d+: its oldest state is at version ${BASE} \\(${timeOf(3)}\\), which is newer, .*; begin there or later, or with another backup\n$`,
          ),
        ),
      ])
    }
    expect(existsSync(bed.at('store/data.mdb'))).toBe(false)
    // A window may begin at the time that the error names.
    expect((await ingesting('store', ...window(timeOf(3)))).status).toBe(0)
  })

  it('continues a store as long as it has the version that follows, and otherwise says which one it has', async () => {
    expect((await ingesting('store', ...window(BASE), '--to', String(BASE + 20))).status).toBe(0)
    const held = Number((await bed.info('store')).ledger_version)
    service.oldest = held + 1
    service.oldestState = LAST
    expect((await ingesting('store', '--waypoint', WAYPOINT, '--to', String(held + 10))).status).toBe(0)
    const next = Number((await bed.info('store')).ledger_version) + 1
    expect(next).toBeGreaterThan(held + 1)
    service.oldest = next + 1
    const { status, stderr } = await ingesting('store', '--waypoint', WAYPOINT)
    expect([status, stderr]).toEqual([1, expect.stringMatching(new RegExp(`version ${next + 1}.*${next}`))])
    expect(await bed.info('store')).toMatchObject({ base_version: String(BASE), ledger_version: String(next - 1) })
  })
})

describe.skipIf(!hasSharedData)('ingest of the backup service over a real chain (skipped without ../shared)', () => {
  it('gives the store that its folder gives, signed', async () => {
    const [epochs, stretch] = [sharedPath('data/epochs/chain-a'), sharedPath('data/backup/transaction_1-.90bf')]
    cpSync(epochs, bed.at('backup'), { recursive: true })
    cpSync(stretch, bed.at('backup/transaction_1-.90bf'), { recursive: true })
    cpSync(sharedPath('data/backup/transaction_1-20000.meta.gz'), bed.at('backup/metadata/transaction_1-20000.meta.gz'))
    const range = {
      chunk: join(stretch, '1-.chunk.gz'),
      proof: join(stretch, '1-20000.proof.gz'),
      first: 1,
      last: 20_000,
    }
    service = await serveFolder(epochs, range, 'DIEM::')
    const waypoint = readFileSync(join(epochs, 'waypoint.txt'), 'utf8').trim()
    const options = ['--assume-empty-base', '--hash-salt', 'DIEM::', '--waypoint', waypoint]
    expect(bed.ingest(bed.at('backup'), 'whole', ...options).status).toBe(0)
    const { status, stderr } = await ingesting('store', ...options)
    expect([status, stderr]).toEqual([0, expect.stringMatching(/ingested: /)])
    expect(await bed.info('store')).toMatchObject({ ledger_version: '20000', signed_version: '20000', waypoint })
    expect(await bed.digest('store')).toBe(await bed.digest('whole'))
    // Earlier writes are not known, so the store has no tree of its state, nor a root to compare.
    for (const words of [
      ['trust', 'keep-tree'],
      ['check', '--state-root'],
    ]) {
      const { status, stderr } = bed.run(...words, '--data-dir', bed.at('store'), '--hash-salt', 'DIEM::')
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(/^ledger-state: .* began on an assumed empty base.*\n$/),
      ])
    }
  })
})
